// What the header says, as types. The checks are in check.ts; everything behind them trusts these types.

export type Coding = "zlib" | "zlib-delta" | "zlib-shuffle";
export type Dtype = "f4" | "f8" | "u4" | "i4" | "u2" | "u1";

export interface BlockInfo {
  dtype: Dtype;
  shape: number[];
  offset: number;
  length: number;
  coding: Coding;
}

export interface Labels {
  codes: string;
  classes: string[];
}

/** The graph itself, of which the page may show a part. */
export interface Whole {
  n: number;
  m: number;
  counts: Record<string, number> | null;
}

export interface ViewHeader {
  name: string;
  n: number;
  m: number;
  whole: Whole;
  dimensions: 2 | 3;
  layout: string;
  position: string;
  faces: string | null;
  i: string;
  j: string;
  before: string;
  after: string;
  kind: string;
  names: string[] | null;
  labels: Labels | null;
  /** n × views: how far each view is believed about the item; rows of 0 where that is not known or says nothing. */
  believed: string | null;
  thumbnails: (string | null)[] | null;
  functions: string | null;
}

export interface PairsHeader {
  views: [number, number];
  a: string;
  b: string;
}

export interface Times {
  least: number;
  most: number;
  count: number;
  unit: number;
  coupled: number[];
}

export interface StoredFrames {
  view: number;
  graph: Which;
  function: number;
  values: string;
  scale: number[];
  offset: number[] | null;
}

export interface Curve {
  times: number[];
  before: (number | null)[];
  after: (number | null)[];
}

export interface Agreement {
  views: [number, number];
  pairs: number;
  before: number;
  after: number;
  chance: number | null;
}

export interface Check {
  view: number;
  graph: Which;
  function: number | null;
  vertex: number | null;
  time: number;
  at: number[];
  heat: number[];
}

export type Summary = Record<string, string | number | null>;

export interface Header {
  title: string;
  made_by: string;
  notes: string[];
  views: ViewHeader[];
  functions: { name: string }[];
  pairs: PairsHeader[];
  times: Times;
  heat: { tolerance: number; weights: "double" | "single"; frames: StoredFrames[] };
  summary: Summary;
  curve: Curve | null;
  agreement: Agreement[];
  history: { cost: number | null; coupling: number | null }[];
  checks: Check[];
  blocks: Record<string, BlockInfo>;
}

/** The graph as it was given, or as it was coupled. */
export type Which = "before" | "after";
export const WHICH: readonly Which[] = ["before", "after"];
