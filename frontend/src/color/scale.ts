// Heat -> part of the color map. The same scale for all panels, so that equal colors are equal heat.
import type { Stretch } from "../model/state.ts";

export interface Scale {
  low: number;
  high: number;
  stretch: Stretch;
  signed: boolean;
}

/** A logarithmic scale ends this many powers of ten below its top. */
export const DECADES = 4;
/** Values below minus this part of the largest are negative, not rounding. */
const ROUNDING = 1e-6;

export function makeScale(low: number, high: number, stretch: Stretch): Scale {
  const top = Math.max(Math.abs(low), Math.abs(high)) || 1;
  if (low < -ROUNDING * top) return { low: -top, high: top, stretch: "linear", signed: true };
  return { low: 0, high: top, stretch, signed: false };
}

export function partOf(value: number, { low, high, stretch }: Scale): number {
  const part = Math.min(1, Math.max(0, (value - low) / (high - low)));
  if (stretch === "root") return Math.sqrt(part);
  if (stretch === "log") return Math.max(0, 1 + Math.log10(Math.max(part, 1e-30)) / DECADES);
  return part;
}

export function valueAt(part: number, { low, high, stretch }: Scale): number {
  if (stretch === "root") return low + (high - low) * part * part;
  if (stretch === "log") return part === 0 ? 0 : (high - low) * 10 ** (DECADES * (part - 1));
  return low + (high - low) * part;
}

export function extremes(values: ArrayLike<number>): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (let k = 0; k < values.length; k++) {
    if (values[k] < low) low = values[k];
    if (values[k] > high) high = values[k];
  }
  return [low, high];
}
