// Edges in the order in which they are drawn: unchanged ones first, each group shuffled, so that any beginning is a fair sample.
import type { Which } from "../format/header.ts";
import type { View } from "../model/data.ts";

export interface EdgeOrder {
  order: Uint32Array;
  unchanged: number;
}

function shuffle(values: Uint32Array, from: number, to: number): void {
  let seed = 12345; // always the same, so that a picture can be made again
  for (let k = to - 1; k > from; k--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const l = from + (seed % (k - from + 1));
    [values[k], values[l]] = [values[l], values[k]];
  }
}

export function drawingOrder({ m, kind }: Pick<View, "m" | "kind">): EdgeOrder {
  const order = new Uint32Array(m);
  let unchanged = 0;
  for (let e = 0; e < m; e++) if (kind[e] === 0) order[unchanged++] = e;
  let next = unchanged;
  for (let e = 0; e < m; e++) if (kind[e] !== 0) order[next++] = e;
  shuffle(order, 0, unchanged);
  shuffle(order, unchanged, m);
  return { order, unchanged };
}

/** Six numbers an edge: its two ends. */
export function endsOf({ i, j, position }: View, order: Uint32Array): Float32Array {
  const ends = new Float32Array(6 * order.length);
  for (let k = 0; k < order.length; k++) {
    const a = 3 * i[order[k]];
    const b = 3 * j[order[k]];
    for (let c = 0; c < 3; c++) {
      ends[6 * k + c] = position[a + c];
      ends[6 * k + 3 + c] = position[b + c];
    }
  }
  return ends;
}

/** A weight that few exceed, so that a single heavy edge does not make all others invisible. */
export function heavyWeight({ weights, m }: View): number {
  const step = Math.max(1, Math.floor((2 * m) / 20_000));
  const sample: number[] = [];
  for (let e = 0; e < m; e += step) for (const w of [weights.before[e], weights.after[e]]) if (w > 0) sample.push(w);
  sample.sort((a, b) => a - b);
  return sample[Math.floor(0.95 * sample.length)] || 1;
}

/** Whether an edge is seen in a graph: cut ones still are, as marks; those without weight are not. */
export const isSeen = ({ weights, kind }: View, which: Which, edge: number): boolean =>
  weights[which][edge] > 0 || (which === "after" && kind[edge] === 1);

export const strengthOf = (weight: number, heavy: number): number => Math.min(1, Math.sqrt(weight / heavy));

/** Four bytes an edge: strength, kind, seen, nothing. */
export function stylesOf(view: View, which: Which, order: Uint32Array, heavy: number): Uint8Array {
  const styles = new Uint8Array(4 * order.length);
  for (let k = 0; k < order.length; k++) {
    const edge = order[k];
    const cut = view.kind[edge] === 1;
    const weight = cut ? view.weights.before[edge] : view.weights[which][edge];
    styles[4 * k] = Math.round(255 * strengthOf(weight, heavy));
    styles[4 * k + 1] = Math.min(4, view.kind[edge]);
    styles[4 * k + 2] = isSeen(view, which, edge) ? 255 : 0;
  }
  return styles;
}

/** The mean length of an edge, and the length below which a quarter of them are: what vertices must leave room for. */
export function lengthsOf({ i, j, position, m }: View): { mean: number; short: number } {
  if (m === 0) return { mean: 0, short: 0 };
  const step = Math.max(1, Math.floor(m / 20_000));
  const lengths: number[] = [];
  for (let e = 0; e < m; e += step) {
    const [a, b] = [3 * i[e], 3 * j[e]];
    lengths.push(Math.hypot(position[a] - position[b], position[a + 1] - position[b + 1], position[a + 2] - position[b + 2]));
  }
  lengths.sort((a, b) => a - b);
  return { mean: lengths.reduce((sum, length) => sum + length, 0) / lengths.length, short: lengths[Math.floor(lengths.length / 4)] };
}
