/**
 * e^{-z} I_k(z) for k = 0, 1, …, until what is left is below rounding.
 *
 * Miller's backward recurrence I_{k-1} = I_{k+1} + (2k / z) I_k is stable; the scale follows from
 * e^{-z} (I_0 + 2 Σ_{k≥1} I_k) = 1, so that nothing overflows however large z is.
 */
export function scaledBessel(z: number): Float64Array {
  if (z < SMALL) return Float64Array.of(1 - z, z / 2);
  const last = beyond(z);
  const values = new Float64Array(last + 1);
  values[last] = TINY;
  for (let k = last; k > 0; k--) {
    values[k - 1] = (k < last ? values[k + 1] : 0) + ((2 * k) / z) * values[k];
    if (values[k - 1] > HUGE) for (let l = k - 1; l <= last; l++) values[l] *= TINY;
  }
  let sum = values[0];
  for (let k = last; k > 0; k--) sum += 2 * values[k];
  for (let k = 0; k <= last; k++) values[k] /= sum;
  return values;
}

/** Below this the next terms are below rounding, and ratios in the recurrence would overflow. */
const SMALL = 1e-9;
const TINY = 1e-150;
const HUGE = 1e150;
/** e^{-z} I_k(z) ≲ exp(-k² / (2z + k)): the k at which that is e^{-50}, below rounding even after summing. */
const beyond = (z: number): number => Math.ceil(25 + Math.sqrt(625 + 100 * z)) + 2;
