export declare class Blocks {
  table: Record<string, { dtype: string; shape: number[]; offset: number; length: number; coding: string }>;
  parts: Buffer[];
  add(name: string, dtype: string, shape: number[], values: ArrayLike<number>, coding?: string): string;
  base64(): string;
}
