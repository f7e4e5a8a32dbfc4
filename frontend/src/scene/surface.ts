/** A normal for every vertex: the mean of its faces' normals, large faces counting more. */
export function vertexNormals(position: Float32Array, faces: Uint32Array): Float32Array {
  const normals = new Float32Array(position.length);
  for (let k = 0; k < faces.length; k += 3) {
    const [a, b, c] = [3 * faces[k], 3 * faces[k + 1], 3 * faces[k + 2]];
    const u = [0, 1, 2].map((d) => position[b + d] - position[a + d]);
    const v = [0, 1, 2].map((d) => position[c + d] - position[a + d]);
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    for (const at of [a, b, c]) for (let d = 0; d < 3; d++) normals[at + d] += n[d];
  }
  for (let k = 0; k < normals.length; k += 3) {
    const length = Math.hypot(normals[k], normals[k + 1], normals[k + 2]) || 1;
    for (let d = 0; d < 3; d++) normals[k + d] /= length;
  }
  return normals;
}
