import type { Blocks } from "./page.d.mts";

interface Made {
  header: any;
  blocks: Blocks;
}
export declare const ATTACKS: string[];
export declare function ring(n?: number): Made;
export declare function weighed(n?: number): Made;
export declare function hostile(): Made;
export declare function withoutFunctions(): Made;
export declare function surface(): Made;
export declare function large(n: number, degree: number, dimensions?: number, withNames?: boolean): Made;
