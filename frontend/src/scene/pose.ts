// How a view is first looked at: flat ones from above, bodies upright and from a little aside.
import type { View } from "../model/data.ts";
import { about, dot, IDENTITY, rows, times, type Quaternion, type Vector } from "./algebra.ts";
import type { Extent } from "./lens.ts";

const sides = (position: Float32Array): [number, number, number] => {
  const half: [number, number, number] = [0, 0, 0];
  for (let k = 0; k < position.length; k++) half[k % 3] = Math.max(half[k % 3], Math.abs(position[k]));
  return half;
};

export function homeRotation({ dimensions, position, faces }: View): Quaternion {
  if (dimensions === 2) return IDENTITY;
  const half = sides(position);
  // Standing bodies are longest upward; z is up where it is the longest.
  const upright = half[2] >= Math.max(half[0], half[1]) ? about([1, 0, 0], -Math.PI / 2) : IDENTITY;
  const aside = times(about([1, 0, 0], 0.25), about([0, 1, 0], faces ? -0.4 : -0.6));
  return times(aside, upright);
}

/** Half of the width and height that the home camera sees. */
export function extentOf({ position, dimensions }: View, rotation: Quaternion): Extent {
  const [right, up] = rows(rotation);
  let x = 1e-3;
  let y = 1e-3;
  for (let k = 0; k < position.length; k += 3) {
    const p: Vector = [position[k], position[k + 1], position[k + 2]];
    x = Math.max(x, Math.abs(dot(right, p)));
    y = Math.max(y, Math.abs(dot(up, p)));
  }
  // A line, or nearly one, must not be magnified until its thickness fills the panel.
  const least = 0.05 * Math.max(x, y);
  // Perspective makes what is near larger.
  const grow = dimensions === 3 ? 1.04 : 1;
  return { x: grow * Math.max(x, least), y: grow * Math.max(y, least) };
}
