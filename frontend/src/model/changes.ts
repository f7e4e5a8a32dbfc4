// Changed edges as rows of a table: filter, order, and text for other programs.
import { nameOf, type View } from "./data.ts";

export const KINDS = ["as before", "cut", "weakened", "strengthened", "new"] as const;

export interface Row {
  view: number;
  edge: number;
}

export type Column = "kind" | "view" | "from" | "to" | "before" | "after" | "change";

export interface Order {
  column: Column;
  descending: boolean;
}

export interface Filter {
  text: string;
  kinds: ReadonlySet<number>;
  view: number | null;
}

/** Orders texts as a reader expects: "item 9" before "item 10". One collator, since making one is slow. */
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

export const changedRows = (views: readonly View[]): Row[] =>
  views.flatMap((view) => {
    const rows: Row[] = [];
    for (let edge = 0; edge < view.m; edge++) if (view.kind[edge] !== 0) rows.push({ view: view.index, edge });
    return rows;
  });

export const fromOf = (view: View, edge: number): string => nameOf(view, view.i[edge]);
export const toOf = (view: View, edge: number): string => nameOf(view, view.j[edge]);
export const changeOf = (view: View, edge: number): number => view.weights.after[edge] - view.weights.before[edge];

export function filterRows(rows: readonly Row[], views: readonly View[], { text, kinds, view }: Filter): Row[] {
  const wanted = text.trim().toLocaleLowerCase();
  const named = (row: Row): boolean => {
    const of = views[row.view];
    return fromOf(of, row.edge).toLocaleLowerCase().includes(wanted) || toOf(of, row.edge).toLocaleLowerCase().includes(wanted);
  };
  return rows.filter(
    (row) => (view === null || row.view === view) && kinds.has(views[row.view].kind[row.edge]) && (wanted === "" || named(row)),
  );
}

type Key = (row: Row) => number | string;

const keys = (views: readonly View[]): Record<Column, Key> => ({
  kind: ({ view, edge }) => views[view].kind[edge],
  view: ({ view }) => view,
  from: ({ view, edge }) => fromOf(views[view], edge),
  to: ({ view, edge }) => toOf(views[view], edge),
  before: ({ view, edge }) => views[view].weights.before[edge],
  after: ({ view, edge }) => views[view].weights.after[edge],
  change: ({ view, edge }) => Math.abs(changeOf(views[view], edge)),
});

export function orderRows(rows: readonly Row[], views: readonly View[], { column, descending }: Order): Row[] {
  const key = keys(views)[column];
  const sign = descending ? -1 : 1;
  const compare = (a: number | string, b: number | string): number =>
    typeof a === "number" ? a - (b as number) : collator.compare(a, b as string);
  const keyed = rows.map((row) => ({ row, key: key(row) }));
  keyed.sort((a, b) => sign * compare(a.key, b.key));
  return keyed.map(({ row }) => row);
}

/** Quoted as RFC 4180 says. Spreadsheets run cells that begin like a formula, so that names which do get an apostrophe in front. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function writeCsv(rows: readonly Row[], views: readonly View[]): string {
  const lines = ["view,kind,i,j,from,to,before,after"];
  for (const { view: k, edge } of rows) {
    const view = views[k];
    const texts = [view.name, KINDS[view.kind[edge]] ?? "", `${view.i[edge]}`, `${view.j[edge]}`, fromOf(view, edge), toOf(view, edge)];
    lines.push([...texts.map(csvCell), view.weights.before[edge], view.weights.after[edge]].join(","));
  }
  return lines.join("\r\n") + "\r\n";
}
