// L = D − W of a graph, in compressed rows: both directions of every edge, and the degrees.

export interface Laplacian {
  n: number;
  start: Uint32Array;
  neighbor: Uint32Array;
  weight: Float64Array;
  degree: Float64Array;
  /** No eigenvalue is larger: the largest deg_i + deg_j of an edge. */
  bound: number;
}

type Weights = Float32Array | Float64Array;

export function makeLaplacian(n: number, i: Uint32Array, j: Uint32Array, w: Weights): Laplacian {
  const start = new Uint32Array(n + 1);
  const degree = new Float64Array(n);
  for (let e = 0; e < w.length; e++) {
    if (!(w[e] > 0)) continue; // edges without weight carry nothing
    start[i[e] + 1]++;
    start[j[e] + 1]++;
    degree[i[e]] += w[e];
    degree[j[e]] += w[e];
  }
  for (let v = 0; v < n; v++) start[v + 1] += start[v];
  const neighbor = new Uint32Array(start[n]);
  const weight = new Float64Array(start[n]);
  const next = start.slice(0, n);
  let bound = 0;
  for (let e = 0; e < w.length; e++) {
    if (!(w[e] > 0)) continue;
    const a = i[e];
    const b = j[e];
    neighbor[next[a]] = b;
    weight[next[a]++] = w[e];
    neighbor[next[b]] = a;
    weight[next[b]++] = w[e];
    bound = Math.max(bound, degree[a] + degree[b]);
  }
  return { n, start, neighbor, weight, degree, bound };
}

/** y ← (1 − 2L/λ) x, the argument of the Chebyshev polynomials; L x is formed from differences, which keeps constants exactly. */
export function applyShifted(L: Laplacian, x: Float64Array, y: Float64Array): void {
  const { start, neighbor, weight, n } = L;
  const factor = 2 / L.bound;
  for (let v = 0; v < n; v++) {
    const here = x[v];
    let flow = 0;
    for (let k = start[v], end = start[v + 1]; k < end; k++) flow += weight[k] * (here - x[neighbor[k]]);
    y[v] = here - factor * flow;
  }
}
