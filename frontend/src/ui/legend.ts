// Kinds of edges: color, line style and name.
import { KINDS } from "../model/changes.ts";
import type { Data } from "../model/data.ts";
import { el } from "./dom.ts";
import { kindSwatch } from "./table.ts";

export function legendOf({ views }: Data, dark: boolean): HTMLElement {
  const present = new Set<number>();
  for (const { kind } of views) for (const value of kind) present.add(value);
  const items = [0, 1, 2, 3, 4].filter((kind) => present.has(kind)).map((kind) => el("li", {}, kindSwatch(kind, dark), KINDS[kind]));
  const surfaces = views.some(({ faces }) => faces) ? el("li", { class: "hint" }, "on surfaces only changed edges are drawn") : null;
  return el("ul", { class: "legend", "aria-label": "Kinds of edges" }, ...items, surfaces);
}
