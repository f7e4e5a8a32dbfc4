// What is under the pointer, in words.
import { KINDS } from "../model/changes.ts";
import { believedOf, labelOf, nameOf, type Data } from "../model/data.ts";
import type { HeatStore } from "../model/heat.ts";
import { clear, el } from "./dom.ts";
import { formatNumber, shorten } from "./format.ts";
import type { Pointed } from "./marks.ts";

const MOST_NAMES = 4;

/** "images 0.62, words 0.38": how far each view is believed about an item; null where that says nothing. */
export function believedText(data: Data, k: number, vertex: number): string | null {
  const believed = believedOf(data, data.views[k], vertex);
  return believed.length === 0 ? null : believed.map(({ view, weight }) => `${shorten(view.name, 24)} ${weight.toFixed(2)}`).join(", ");
}

export class Tooltip {
  readonly element = el("div", { class: "tooltip", role: "tooltip", hidden: true });

  constructor(
    private readonly data: Data,
    private readonly heat: HeatStore,
  ) {}

  show(pointed: Pointed, stop: number, x: number, y: number): void {
    clear(this.element);
    if (pointed.vertex !== null) this.fillVertex(pointed.view, pointed.vertex, stop);
    else if (pointed.edge !== null) this.fillEdge(pointed.view, pointed.edge);
    this.element.hidden = false;
    this.place(x, y);
  }

  hide(): void {
    this.element.hidden = true;
  }

  private place(x: number, y: number): void {
    const { offsetWidth: width, offsetHeight: height, style } = this.element;
    style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 6))}px`;
    style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
  }

  private line(label: string, value: string): void {
    this.element.append(el("div", { class: "pair" }, el("span", {}, label), el("b", {}, value)));
  }

  private fillVertex(k: number, vertex: number, stop: number): void {
    const view = this.data.views[k];
    const picture = view.header.thumbnails?.[vertex];
    if (picture) this.element.append(el("img", { src: picture, alt: "", width: 56, height: 56 }));
    this.element.append(el("div", { class: "name" }, shorten(nameOf(view, vertex), 120)));
    const label = labelOf(view, vertex);
    if (label !== null) this.line("label", shorten(label, 60));
    if (view.header.names) this.line("vertex", `${vertex}`);
    const heat = (["before", "after"] as const).map((which) => this.heat.at(k, which, stop)?.[vertex]);
    this.line("heat before → after", `${formatNumber(heat[0])} → ${formatNumber(heat[1])}`);
    this.fillPartners(k, vertex);
    const believed = believedText(this.data, k, vertex);
    if (believed !== null) this.line("believed", believed);
  }

  private fillPartners(k: number, vertex: number): void {
    for (const other of this.data.views) {
      const partners = this.data.partners.of(k, vertex, other.index);
      if (partners.length === 0) continue;
      const names = partners.slice(0, MOST_NAMES).map((partner) => shorten(nameOf(other, partner), 30));
      const more = partners.length > MOST_NAMES ? ` and ${partners.length - MOST_NAMES} more` : "";
      this.line(`pair in ${shorten(other.name, 24)}`, names.join(", ") + more);
    }
  }

  private fillEdge(k: number, edge: number): void {
    const view = this.data.views[k];
    const names = [view.i[edge], view.j[edge]].map((vertex) => shorten(nameOf(view, vertex), 60));
    this.element.append(el("div", { class: "name" }, `${names[0]} – ${names[1]}`));
    this.line("weight before → after", `${formatNumber(view.weights.before[edge])} → ${formatNumber(view.weights.after[edge])}`);
    this.line("edge", KINDS[view.kind[edge]] ?? "");
  }
}
