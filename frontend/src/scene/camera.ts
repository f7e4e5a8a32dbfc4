// Cameras, in units of the view: positions lie in [-1, 1]. A zoom of 1 shows all of it.
import type { Quaternion, Vector } from "./algebra.ts";

export interface Camera {
  center: Vector;
  zoom: number;
  rotation: Quaternion;
}

export const LEAST_ZOOM = 0.2;
export const MOST_ZOOM = 2000;

export const home = (rotation: Quaternion): Camera => ({ center: [0, 0, 0], zoom: 1, rotation });

export const clampZoom = (zoom: number): number => Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, zoom));

const numbers = ({ center, zoom, rotation }: Camera): number[] => [...center, zoom, ...rotation];

const short = (x: number): string => `${Number(x.toFixed(4))}`;

export const writeCamera = (camera: Camera): string => numbers(camera).map(short).join(",");

export const sameCamera = (a: Camera, b: Camera): boolean => a === b || writeCamera(a) === writeCamera(b);

export function readCamera(text: string | undefined): Camera | null {
  const values = (text ?? "").split(",").map((part) => (/^-?\d{1,6}(\.\d{1,6})?$/.test(part) ? Number(part) : NaN));
  if (values.length !== 8 || values.some((value) => !Number.isFinite(value))) return null;
  const [x, y, z, zoom, a, b, c, d] = values;
  const length = Math.hypot(a, b, c, d);
  if (length < 0.5 || zoom <= 0 || Math.max(Math.abs(x), Math.abs(y), Math.abs(z)) > 10) return null;
  return { center: [x, y, z], zoom: clampZoom(zoom), rotation: [a / length, b / length, c / length, d / length] };
}
