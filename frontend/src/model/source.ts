// Where heat starts: a corresponding function, or a vertex (and its partners in the other views).
import type { Data } from "./data.ts";

export type Source = { type: "function"; index: number } | { type: "vertex"; view: number; vertex: number };

export const sameSource = (a: Source, b: Source): boolean => writeSource(a) === writeSource(b);

export const writeSource = (source: Source): string =>
  source.type === "function" ? `f:${source.index}` : `v:${source.view}:${source.vertex}`;

/** The source a text names, or null where there is no such function or vertex. */
export function readSource(text: string, { header, views }: Pick<Data, "header" | "views">): Source | null {
  const [, kind, first, second] = /^([fv]):(\d{1,9})(?::(\d{1,9}))?$/.exec(text) ?? [];
  if (kind === "f" && second === undefined && Number(first) < header.functions.length) return { type: "function", index: Number(first) };
  if (kind === "v" && second !== undefined && Number(second) < (views[Number(first)]?.n ?? 0))
    return { type: "vertex", view: Number(first), vertex: Number(second) };
  return null;
}

export const defaultSource = ({ header }: Pick<Data, "header">): Source =>
  header.functions.length > 0 ? { type: "function", index: 0 } : { type: "vertex", view: 0, vertex: 0 };

/** Vertices of `view` at which a vertex source starts heat: itself, or its partners. */
export function startsIn(data: Data, source: Source, view: number): readonly number[] {
  if (source.type === "function") return [];
  return source.view === view ? [source.vertex] : data.partners.of(source.view, source.vertex, view);
}

/** Heat at time 0 in a view; null where there is none. A vertex and its partners start with the same amount, 1, in every view. */
export function heatAtStart(data: Data, source: Source, view: number): Float64Array | null {
  const { n, functions } = data.views[view];
  if (source.type === "function") return functions ? Float64Array.from(functions.subarray(source.index * n, (source.index + 1) * n)) : null;
  const starts = startsIn(data, source, view);
  if (starts.length === 0) return null;
  const f = new Float64Array(n);
  for (const vertex of starts) f[vertex] += 1 / starts.length;
  return f;
}
