// Vectors, quaternions (x, y, z, w) and 4 × 4 matrices in columns, as far as the viewer needs them.

export type Vector = readonly [number, number, number];
export type Quaternion = readonly [number, number, number, number];

export const IDENTITY: Quaternion = [0, 0, 0, 1];

export const add = (a: Vector, b: Vector, factor = 1): Vector => [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]];
export const mix = (a: number, b: number, part: number): number => a + (b - a) * part;

export const about = ([x, y, z]: Vector, angle: number): Quaternion => {
  const s = Math.sin(angle / 2);
  return [x * s, y * s, z * s, Math.cos(angle / 2)];
};

/** First b, then a. */
export const times = (a: Quaternion, b: Quaternion): Quaternion => {
  const [ax, ay, az, aw] = a;
  const [bx, by, bz, bw] = b;
  const product: Quaternion = [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
  const length = Math.hypot(...product);
  return [product[0] / length, product[1] / length, product[2] / length, product[3] / length];
};

/** The rows of the rotation's matrix: the camera's right, up and backward axes in the world. */
export const rows = ([x, y, z, w]: Quaternion): [Vector, Vector, Vector] => [
  [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
  [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
  [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
];

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
