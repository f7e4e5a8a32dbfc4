// Slow and obvious: a dense symmetric matrix's eigenvalues and eigenvectors by Jacobi's rotations.

export type Matrix = number[][];

const identity = (n: number): Matrix => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)));

function rotate(A: Matrix, V: Matrix, p: number, q: number): void {
  const n = A.length;
  const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < n; k++) [A[k][p], A[k][q]] = [c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]];
  for (let k = 0; k < n; k++) [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
  for (let k = 0; k < n; k++) [V[k][p], V[k][q]] = [c * V[k][p] - s * V[k][q], s * V[k][p] + c * V[k][q]];
}

export function eigen(symmetric: Matrix): { values: number[]; vectors: Matrix } {
  const A = symmetric.map((row) => [...row]);
  const n = A.length;
  const V = identity(n);
  for (let sweep = 0; sweep < 60; sweep++)
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) if (Math.abs(A[p][q]) > 1e-15) rotate(A, V, p, q);
  return { values: A.map((row, k) => row[k]), vectors: V };
}

export function denseLaplacian(n: number, edges: readonly (readonly [number, number, number])[]): Matrix {
  const L = Array.from({ length: n }, () => new Array<number>(n).fill(0));
  for (const [i, j, w] of edges) {
    L[i][i] += w;
    L[j][j] += w;
    L[i][j] -= w;
    L[j][i] -= w;
  }
  return L;
}

/** e^{-tL} f by eigenvectors. */
export function denseHeat(L: Matrix, f: ArrayLike<number>, time: number): number[] {
  const { values, vectors } = eigen(L);
  const n = L.length;
  const result = new Array<number>(n).fill(0);
  for (let k = 0; k < n; k++) {
    let dot = 0;
    for (let v = 0; v < n; v++) dot += vectors[v][k] * f[v];
    for (let v = 0; v < n; v++) result[v] += Math.exp(-time * values[k]) * dot * vectors[v][k];
  }
  return result;
}

export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}
