import { scaledBessel } from "./bessel.ts";

/**
 * e^{-tx} on [0, λ] as Σ_k c_k T_k(y) with y = 1 − 2x/λ:  c_0 = e^{-z} I_0(z), c_k = 2 e^{-z} I_k(z), z = tλ/2.
 *
 * All c_k are positive and their sum is 1 (the value at x = 0), so that what is cut off is at most 1 − Σ of what is kept,
 * at every x: an exact bound. What is cut off is added to c_0. The value at x = 0 is then 1 again, which keeps the heat.
 */
export function heatSeries(time: number, bound: number, tolerance: number): Float64Array {
  const bessel = scaledBessel((time * bound) / 2);
  const cut = tolerance / 2; // the other half is for what c_0 gets
  let tail = 0;
  let degree = bessel.length - 1;
  while (degree > 0 && tail + 2 * bessel[degree] <= cut) tail += 2 * bessel[degree--];
  const series = bessel.slice(0, degree + 1);
  for (let k = 1; k <= degree; k++) series[k] *= 2;
  let sum = 0;
  for (let k = degree; k > 0; k--) sum += series[k];
  series[0] = 1 - sum;
  return series;
}
