/**
 * A camera looking at a view in a panel of some size: the matrix for the graphics card, and the same for picking.
 *
 * At the depth of the camera's center one unit is `scale` pixels. Flat views have no perspective; in others the eye is
 * `DISTANCE / zoom` away.
 */
import { add, about, dot, rows, times, type Vector } from "./algebra.ts";
import { clampZoom, type Camera } from "./camera.ts";

const DISTANCE = 5;
/** All of the view, and some room around it: for vertices at the border, and above for the caption. */
const MARGIN = 1.08;
const CAPTION = 24;
/** No point of a view is farther from its middle. */
const REACH = 3;

export interface Extent {
  /** Half of the sides of the view's box, as seen by the home camera. */
  x: number;
  y: number;
}

export interface Size {
  width: number;
  height: number;
}

export class Lens {
  readonly scale: number;
  readonly matrix: Float32Array;
  readonly right: Vector;
  readonly up: Vector;
  readonly back: Vector;

  constructor(
    readonly camera: Camera,
    readonly flat: boolean,
    extent: Extent,
    readonly size: Size,
  ) {
    const fit = Math.min(
      size.width / (2 * MARGIN * extent.x),
      Math.max(size.height / 2, size.height - 2 * CAPTION) / (2 * MARGIN * extent.y),
    );
    this.scale = fit * camera.zoom;
    [this.right, this.up, this.back] = rows(camera.rotation);
    this.matrix = this.makeMatrix();
  }

  private get distance(): number {
    return DISTANCE / this.camera.zoom;
  }

  private makeMatrix(): Float32Array {
    const { right, up, back, flat, distance } = this;
    const sx = (2 * this.scale) / this.size.width;
    const sy = (2 * this.scale) / this.size.height;
    const shift = (axis: Vector): number => -dot(axis, this.camera.center);
    const near = Math.max(0.02 * distance, distance - REACH);
    const far = distance + REACH;
    // Clip coordinates are linear in z, the coordinate toward the eye: depth = d0 + d1 z, w = w0 + w1 z.
    const [w0, w1] = flat ? [1, 0] : [1, -1 / distance];
    const a = (far + near) / (far - near);
    const b = (-2 * far * near) / (far - near);
    const [d0, d1] = flat ? [0, -1 / REACH] : [a + b / distance, -a / distance];
    const column = (k: number): number[] => [sx * right[k], sy * up[k], d1 * back[k], w1 * back[k]];
    const last = [sx * shift(right), sy * shift(up), d0 + d1 * shift(back), w0 + w1 * shift(back)];
    return Float32Array.from([0, 1, 2].flatMap(column).concat(last));
  }

  /** Pixels from the panel's upper left corner, and the depth in [-1, 1]; behind the eye the depth is above 1. */
  project(x: number, y: number, z: number): Vector {
    const m = this.matrix;
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w <= 0) return [-1e6, -1e6, 2];
    const px = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w;
    const py = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
    const pz = (m[2] * x + m[6] * y + m[10] * z + m[14]) / w;
    return [((px + 1) / 2) * this.size.width, ((1 - py) / 2) * this.size.height, pz];
  }

  panned(dx: number, dy: number): Camera {
    const center = add(add(this.camera.center, this.right, -dx / this.scale), this.up, dy / this.scale);
    return { ...this.camera, center };
  }

  rotated(dx: number, dy: number): Camera {
    const speed = (2.4 * Math.PI) / Math.max(200, Math.min(this.size.width, this.size.height)) / 2;
    const turn = times(about([1, 0, 0], dy * speed), about([0, 1, 0], dx * speed));
    return { ...this.camera, rotation: times(turn, this.camera.rotation) };
  }

  /** What lies under (x, y) at the depth of the center stays there. */
  zoomed(factor: number, x = this.size.width / 2, y = this.size.height / 2): Camera {
    const zoom = clampZoom(this.camera.zoom * factor);
    const real = zoom / this.camera.zoom;
    const [dx, dy] = [x - this.size.width / 2, y - this.size.height / 2];
    return { ...this.panned(-dx * (1 - 1 / real), -dy * (1 - 1 / real)), zoom };
  }
}
