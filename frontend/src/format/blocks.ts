// Blocks: base64 -> bytes -> zlib -> numbers. Little endian, as every machine with a browser is.
import { Damaged } from "./check.ts";
import type { BlockInfo, Dtype } from "./header.ts";

export type Numbers = Float32Array | Float64Array | Uint32Array | Int32Array | Uint16Array | Uint8Array;

const ARRAYS: Record<Dtype, { new (buffer: ArrayBuffer): Numbers; BYTES_PER_ELEMENT: number }> = {
  f4: Float32Array,
  f8: Float64Array,
  u4: Uint32Array,
  i4: Int32Array,
  u2: Uint16Array,
  u1: Uint8Array,
};

type Bytes = Uint8Array<ArrayBuffer>;

export function fromBase64(text: string): Bytes {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    throw new Damaged("the data is not base64: the file was cut off or changed");
  }
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

/** Reads until `expected` bytes and no further, so that a hostile block cannot fill the memory. */
async function inflate(bytes: Bytes, expected: number, name: string): Promise<Bytes> {
  const result = new Uint8Array(expected);
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  let filled = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new Damaged(`block ${name} cannot be decompressed`);
    });
    if (done) break;
    if (filled + value.length > expected) {
      void reader.cancel();
      throw new Damaged(`block ${name} is longer than its shape says`);
    }
    result.set(value, filled);
    filled += value.length;
  }
  if (filled !== expected) throw new Damaged(`block ${name} is shorter than its shape says`);
  return result;
}

export function unshuffle(bytes: Bytes, size: number): Bytes {
  const count = bytes.length / size;
  const result = new Uint8Array(bytes.length);
  for (let k = 0; k < size; k++) for (let v = 0; v < count; v++) result[v * size + k] = bytes[k * count + v];
  return result;
}

/** First differences -> values; the arrays wrap as the writer's integers do. */
export function undelta(values: Numbers): void {
  for (let k = 1; k < values.length; k++) values[k] += values[k - 1];
}

export class BlockReader {
  constructor(
    private readonly bytes: Bytes,
    private readonly table: Record<string, BlockInfo>,
  ) {}

  async read(name: string): Promise<Numbers> {
    const info = this.table[name];
    const type = ARRAYS[info.dtype];
    if (info.offset + info.length > this.bytes.length)
      throw new Damaged(`block ${name} lies beyond the end of the data: the file was cut off`);
    const expected = info.shape.reduce((product, side) => product * side, 1) * type.BYTES_PER_ELEMENT;
    let raw = await inflate(this.bytes.subarray(info.offset, info.offset + info.length), expected, name);
    if (info.coding === "zlib-shuffle") raw = unshuffle(raw, type.BYTES_PER_ELEMENT);
    const values = new type(raw.buffer);
    if (info.coding === "zlib-delta") undelta(values);
    return values;
  }
}
