// What lies under the pointer: the nearest vertex, or else the nearest edge.
import type { Which } from "../format/header.ts";
import type { View } from "../model/data.ts";
import { isSeen } from "./edges.ts";
import type { Lens } from "./lens.ts";

/** Pixels and depth of every vertex: x, y, z, x, y, z, … */
export function projectAll(lens: Lens, position: Float32Array, result: Float32Array): void {
  const m = lens.matrix;
  const { width, height } = lens.size;
  for (let k = 0; k < position.length; k += 3) {
    const [x, y, z] = [position[k], position[k + 1], position[k + 2]];
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w <= 0) {
      result[k] = result[k + 1] = -1e6;
      continue;
    }
    result[k] = ((m[0] * x + m[4] * y + m[8] * z + m[12]) / w + 1) * 0.5 * width;
    result[k + 1] = (1 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w) * 0.5 * height;
    result[k + 2] = (m[2] * x + m[6] * y + m[10] * z + m[14]) / w;
  }
}

/** Among vertices within `reach` pixels the nearest on the screen; on surfaces the one in front. */
export function pickVertex(projected: Float32Array, x: number, y: number, reach: number, solid: boolean): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (let k = 0; k < projected.length; k += 3) {
    const dx = projected[k] - x;
    const dy = projected[k + 1] - y;
    const d2 = dx * dx + dy * dy;
    if (d2 > reach * reach) continue;
    const badness = solid ? projected[k + 2] * 1e4 + d2 * 0.02 : d2;
    if (badness < least) {
      least = badness;
      best = k / 3;
    }
  }
  return best;
}

export function pickEdge(view: View, which: Which, projected: Float32Array, x: number, y: number, reach: number): number | null {
  let best: number | null = null;
  let least = reach * reach;
  for (let e = 0; e < view.m; e++) {
    const a = 3 * view.i[e];
    const b = 3 * view.j[e];
    const ax = projected[a] - x;
    const bx = projected[b] - x;
    if ((ax > reach && bx > reach) || (ax < -reach && bx < -reach)) continue;
    const ay = projected[a + 1] - y;
    const by = projected[b + 1] - y;
    if ((ay > reach && by > reach) || (ay < -reach && by < -reach)) continue;
    const d2 = distanceToSegment(ax, ay, bx, by);
    if (d2 < least && isSeen(view, which, e)) {
      least = d2;
      best = e;
    }
  }
  return best;
}

/** Squared distance of the origin from the segment a b. */
function distanceToSegment(ax: number, ay: number, bx: number, by: number): number {
  const dx = bx - ax;
  const dy = by - ay;
  const part = Math.min(1, Math.max(0, -(ax * dx + ay * dy) / (dx * dx + dy * dy || 1)));
  return (ax + part * dx) ** 2 + (ay + part * dy) ** 2;
}
