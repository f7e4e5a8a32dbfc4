// Changed edges: filter, sort, zoom to one, export.
import { KIND_STYLES, kindColor } from "../color/kinds.ts";
import {
  changeOf,
  changedRows,
  filterRows,
  fromOf,
  KINDS,
  orderRows,
  toOf,
  writeCsv,
  type Column,
  type Order,
  type Row,
} from "../model/changes.ts";
import type { Data } from "../model/data.ts";
import type { Store } from "../model/state.ts";
import { el, svg } from "./dom.ts";
import { download } from "./download.ts";
import { formatCount, formatNumber, shorten } from "./format.ts";
import { isDark } from "./theme.ts";
import { VirtualRows } from "./virtual.ts";

const COLUMNS: readonly [Column, string][] = [
  ["kind", "Kind"],
  ["from", "From"],
  ["to", "To"],
  ["before", "Before"],
  ["after", "After"],
  ["change", "Change"],
];
const ROW_HEIGHT = 28;

/** A short piece of line in the style of a kind of edge. */
export const kindSwatch = (kind: number, dark: boolean): SVGSVGElement => {
  const { dash, width } = KIND_STYLES[kind];
  return svg(
    "svg",
    { class: "swatch", width: 22, height: 8, viewBox: "0 0 22 8", "aria-hidden": "true" },
    svg("line", {
      x1: 1,
      x2: 21,
      y1: 4,
      y2: 4,
      stroke: kindColor(kind, dark),
      "stroke-width": 1.4 * width,
      "stroke-dasharray": dash || null,
    }),
  );
};

export class ChangesTable {
  readonly element: HTMLElement;
  private readonly all: Row[];
  private rows: Row[] = [];
  private order: Order = { column: "change", descending: true };
  private text = "";
  private readonly kinds = new Set([1, 2, 3, 4]);
  private readonly list: VirtualRows;
  private readonly count = el("p", { class: "hint", role: "status" });
  private readonly heads = new Map<Column, HTMLElement>();
  private readonly grid: HTMLElement;

  constructor(
    private readonly data: Data,
    private readonly store: Store,
    private readonly zoomTo: (row: Row) => void,
  ) {
    this.all = changedRows(data.views);
    this.list = new VirtualRows({
      rowHeight: ROW_HEIGHT,
      label: "Changed edges. Arrow keys move, Enter zooms to the edge.",
      makeRow: (k) => this.makeRow(this.rows[k], k),
      choose: (k) => this.zoomTo(this.rows[k]),
    });
    this.grid = el("div", { class: "grid", role: "grid", "aria-label": "Changed edges" }, this.head(), this.list.element);
    this.element = el("div", { class: "changes" }, this.tools(), this.count, this.grid);
    store.subscribe((_, changed) => {
      if (changed.has("view")) this.update();
      else if (changed.has("theme") || changed.has("edge")) this.list.fill();
    });
    this.update();
  }

  get total(): number {
    return this.all.length;
  }

  private tools(): HTMLElement {
    const search = el("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter changed edges by name" });
    search.addEventListener("input", () => {
      this.text = search.value;
      this.update();
    });
    const boxes = [1, 2, 3, 4].map((kind) => this.kindBox(kind));
    const save = el(
      "button",
      {
        type: "button",
        class: "text",
        title: "The rows below, with names; names that begin like a formula get an apostrophe in front",
        on: { click: () => this.save() },
      },
      "Export CSV",
    );
    return el(
      "div",
      { class: "tools" },
      el("div", { class: "line" }, search, save),
      el("div", { class: "line kinds", role: "group", "aria-label": "Kinds of changes" }, ...boxes),
    );
  }

  private kindBox(kind: number): HTMLElement {
    const box = el("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      if (box.checked) this.kinds.add(kind);
      else this.kinds.delete(kind);
      this.update();
    });
    return el("label", {}, box, KINDS[kind]);
  }

  private head(): HTMLElement {
    const cells = COLUMNS.map(([column, title]) => {
      const button = el("button", { type: "button", on: { click: () => this.sortBy(column) } }, title);
      const cell = el("div", { role: "columnheader", class: `cell ${column}` }, button);
      this.heads.set(column, cell);
      return cell;
    });
    return el("div", { role: "rowgroup", class: "head" }, el("div", { role: "row", class: "row", "aria-rowindex": 1 }, ...cells));
  }

  private sortBy(column: Column): void {
    const descending = this.order.column === column ? !this.order.descending : !["kind", "from", "to"].includes(column);
    this.order = { column, descending };
    this.update();
  }

  private update(): void {
    const { views } = this.data;
    const filter = { text: this.text, kinds: this.kinds, view: this.store.get().view };
    this.rows = orderRows(filterRows(this.all, views, filter), views, this.order);
    this.grid.setAttribute("aria-rowcount", `${this.rows.length + 1}`);
    for (const [column, cell] of this.heads)
      cell.setAttribute("aria-sort", column !== this.order.column ? "none" : this.order.descending ? "descending" : "ascending");
    this.count.textContent =
      this.all.length === 0 ? "No edge has changed." : `${formatCount(this.rows.length)} of ${formatCount(this.all.length)} changed edges`;
    this.list.setCount(this.rows.length);
  }

  private makeRow({ view: k, edge }: Row, index: number): HTMLElement {
    const view = this.data.views[k];
    const { theme, edge: chosen } = this.store.get();
    const kind = view.kind[edge];
    const change = changeOf(view, edge);
    const cell = (column: string, text: string, title?: string): HTMLElement =>
      el("div", { role: "gridcell", class: `cell ${column}`, title }, text);
    const name = (column: string, text: string): HTMLElement => cell(column, shorten(text, 40), text.slice(0, 400));
    const mark = el(
      "div",
      { role: "gridcell", class: "cell kind", title: `${KINDS[kind]}, ${view.name.slice(0, 200)}`, "aria-label": KINDS[kind] },
      kindSwatch(kind, isDark(theme)),
    );
    const selected = chosen?.view === k && chosen.edge === edge;
    return el(
      "div",
      { role: "row", class: `row${index % 2 ? " odd" : ""}`, "aria-selected": selected },
      mark,
      name("from", fromOf(view, edge)),
      name("to", toOf(view, edge)),
      cell("before", formatNumber(view.weights.before[edge], 3)),
      cell("after", formatNumber(view.weights.after[edge], 3)),
      cell("change", (change > 0 ? "+" : "") + formatNumber(change, 3)),
    );
  }

  private save(): void {
    download(new Blob([writeCsv(this.rows, this.data.views)], { type: "text/csv;charset=utf-8" }), "changed-edges.csv");
  }
}
