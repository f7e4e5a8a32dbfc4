/**
 * e^{-tL} f at many times from one Chebyshev recurrence: T_{k+1} = 2 A T_k − T_{k-1} with A = 1 − 2L/λ.
 *
 * A generator: it yields {stop, heat} as soon as a time has all its terms (short times need fewest, so they come first),
 * and null where the caller may pause, which is after each batch of terms.
 */
import { heatSeries } from "./chebyshev.ts";
import { applyShifted, type Laplacian } from "./laplacian.ts";

export interface Frame {
  stop: number;
  heat: Float64Array;
}

/** Terms that are added to a time's sum at once: the sums are long, and are read and written once for all of them. */
const BATCH = 4;

export function* heatFlow(L: Laplacian, f: Float64Array, times: readonly number[], tolerance: number): Generator<Frame | null> {
  const waiting: { stop: number; series: Float64Array; sum: Float64Array }[] = [];
  for (const [stop, time] of times.entries()) {
    const series = heatSeries(time, L.bound, tolerance);
    if (series.length === 1) yield { stop, heat: f.slice() };
    else waiting.push({ stop, series, sum: new Float64Array(L.n) });
  }
  waiting.sort((a, b) => a.series.length - b.series.length);

  // Two batches take turns, since the first two terms of one need the last two of the other.
  const batches = [0, 1].map(() => Array.from({ length: BATCH }, () => new Float64Array(L.n)));
  let previous = new Float64Array(L.n);
  let last = new Float64Array(L.n);
  for (let first = 0; waiting.length > 0; first += BATCH) {
    const terms = batches[(first / BATCH) % 2];
    for (let b = 0; b < BATCH; b++) {
      nextTerm(L, first + b, f, last, previous, terms[b]);
      previous = last;
      last = terms[b];
    }
    for (const { series, sum } of waiting) addTerms(sum, terms, series, first);
    while (waiting.length > 0 && waiting[0].series.length <= first + BATCH) {
      const { stop, sum } = waiting.shift()!;
      yield { stop, heat: sum };
    }
    yield null;
  }
}

/** result ← T_k f, from T_{k-1} f (last) and T_{k-2} f (previous). */
function nextTerm(L: Laplacian, k: number, f: Float64Array, last: Float64Array, previous: Float64Array, result: Float64Array): void {
  if (k === 0) return result.set(f);
  applyShifted(L, last, result);
  if (k > 1) for (let v = 0; v < L.n; v++) result[v] = 2 * result[v] - previous[v];
}

function addTerms(sum: Float64Array, [a, b, c, d]: Float64Array[], series: Float64Array, first: number): void {
  const [ca, cb, cc, cd] = [0, 1, 2, 3].map((k) => series[first + k] ?? 0);
  for (let v = 0; v < sum.length; v++) sum[v] += ca * a[v] + cb * b[v] + cc * c[v] + cd * d[v];
}
