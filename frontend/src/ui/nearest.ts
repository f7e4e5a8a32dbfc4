// The items nearest to the source, before and after.
import type { Which } from "../format/header.ts";
import { labelOf, nameOf, type Data } from "../model/data.ts";
import type { HeatStore } from "../model/heat.ts";
import { hottest, type Near } from "../model/nearest.ts";
import { startsIn } from "../model/source.ts";
import type { State } from "../model/state.ts";
import { clear, el, select } from "./dom.ts";
import { formatNumber, shorten } from "./format.ts";
import { believedText } from "./tooltip.ts";

const COUNT = 15;

export class Nearest {
  readonly element = el("div", { class: "nearest" });
  private readonly lists = el("div", { class: "lists" });
  private readonly text = el("p", { class: "hint" });
  private readonly chooser: { element: HTMLElement; input: HTMLSelectElement } | null;
  private view = 0;
  private shown = "";

  constructor(
    private readonly data: Data,
    private readonly heat: HeatStore,
    private readonly start: (view: number, vertex: number) => void,
    private readonly again: () => void,
  ) {
    const choices = data.views.map((view) => ({ value: `${view.index}`, text: shorten(view.name, 40) }));
    this.chooser = choices.length > 1 ? select("View", choices, "0", (value) => this.choose(Number(value))) : null;
    this.element.append(this.text, ...(this.chooser ? [this.chooser.element] : []), this.lists);
  }

  /** Follows a click into the view that was clicked. */
  choose(view: number): void {
    this.view = view;
    if (this.chooser) this.chooser.input.value = `${view}`;
    this.shown = "";
    this.again();
  }

  /** Cheap when nothing has changed. */
  update(state: State, name: string): void {
    const before = this.heat.at(this.view, "before", state.stop);
    const after = this.heat.at(this.view, "after", state.stop);
    const key = `${this.view} ${state.stop} ${name} ${before !== null} ${after !== null}`;
    if (key === this.shown) return;
    this.shown = key;
    const believed = state.source.type === "vertex" ? believedText(this.data, state.source.view, state.source.vertex) : null;
    const trust = believed === null ? "" : ` How far views are believed about it: ${believed}.`;
    this.text.textContent =
      state.source.type === "vertex"
        ? `Closeness to ${shorten(name, 60)} is the heat that has come from it by the current time. It is not the diffusion distance.${trust}`
        : `The items with most heat of ${shorten(name, 60)} at the current time. Click an item to see those nearest to it.`;
    const without = new Set(startsIn(this.data, state.source, this.view));
    const lists = [before, after].map((heat) => (heat ? hottest(heat, COUNT, without) : null));
    clear(this.lists);
    this.lists.append(this.list("before", lists[0], lists[1]), this.list("after", lists[1], lists[0]));
  }

  private list(which: Which, items: Near[] | null, others: Near[] | null): HTMLElement {
    const other = new Set(others?.map(({ vertex }) => vertex));
    const top = items?.[0]?.heat ?? 1;
    const rows = (items ?? []).map((item) => this.item(item, top, which === "after" && others !== null && !other.has(item.vertex)));
    const empty = this.heat.has(this.view) ? (items ? "No heat has come anywhere yet." : "Computing …") : "No heat in this view.";
    return el(
      "div",
      {},
      el("h3", {}, which === "before" ? "Before" : "After"),
      rows.length > 0 ? el("ol", {}, ...rows) : el("p", { class: "hint" }, empty),
    );
  }

  private item({ vertex, heat }: Near, top: number, isNew: boolean): HTMLElement {
    const view = this.data.views[this.view];
    const picture = view.header.thumbnails?.[vertex];
    const label = labelOf(view, vertex);
    const bar = el("span", { class: "bar" });
    bar.style.width = `${(100 * heat) / top}%`;
    const name = nameOf(view, vertex);
    const button = el(
      "button",
      {
        type: "button",
        title: `${name.slice(0, 300)}: heat ${formatNumber(heat)}${isNew ? ", not among the nearest before" : ""}`,
        on: { click: () => this.start(this.view, vertex) },
      },
      picture ? el("img", { src: picture, alt: "", width: 32, height: 32 }) : null,
      el(
        "span",
        { class: "what" },
        el("span", { class: "name" }, shorten(name, 60)),
        label === null ? null : el("span", { class: "label" }, shorten(label, 40)),
      ),
      el("span", { class: "value" }, formatNumber(heat, 2)),
      bar,
    );
    return el("li", { class: isNew ? "new" : "" }, button);
  }
}
