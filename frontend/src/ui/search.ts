// Search by name: a text field with a list of what is found.
import { labelOf, nameOf, type Data } from "../model/data.ts";
import { searchItems, type Found } from "../model/search.ts";
import { el } from "./dom.ts";
import { shorten } from "./format.ts";

const MOST = 40;

export class Search {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list = el("ul", { class: "found", role: "listbox", id: "found", "aria-label": "Items found", hidden: true });
  private found: Found[] = [];
  private active = -1;

  constructor(
    private readonly data: Data,
    private readonly choose: (view: number, vertex: number) => void,
    private readonly say: (text: string) => void,
  ) {
    this.input = el("input", {
      type: "search",
      placeholder: "Search by name",
      role: "combobox",
      "aria-label": "Search items by name; heat starts at the chosen one",
      "aria-expanded": "false",
      "aria-controls": "found",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("focus", () => this.look());
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.element = el("div", { class: "search" }, this.input, this.list);
  }

  private look(): void {
    this.found = searchItems(this.data.views, this.input.value, MOST);
    this.active = this.found.length > 0 ? 0 : -1;
    this.list.replaceChildren(...this.found.map((item, k) => this.option(item, k)));
    if (this.input.value.trim() !== "" && this.found.length === 0)
      this.list.append(el("li", { class: "none" }, "Nothing is named like that"));
    const open = this.list.childElementCount > 0;
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    this.mark();
    if (open) this.say(`${this.found.length === MOST ? `${MOST} or more` : this.found.length} found`);
  }

  private option({ view, vertex }: Found, k: number): HTMLElement {
    const of = this.data.views[view];
    const label = labelOf(of, vertex);
    const hints = [label === null ? null : shorten(label, 24), this.data.views.length > 1 ? shorten(of.name, 20) : null].filter(
      (text) => text !== null,
    );
    const option = el(
      "li",
      { role: "option", id: `found-${k}` },
      el("span", { class: "name" }, shorten(nameOf(of, vertex), 60)),
      el("span", { class: "label" }, hints.join(" · ")),
    );
    option.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.take(k);
    });
    return option;
  }

  private mark(): void {
    [...this.list.children].forEach((option, k) => {
      option.setAttribute("aria-selected", String(k === this.active));
      if (k === this.active) option.scrollIntoView({ block: "nearest" });
    });
    if (this.active >= 0) this.input.setAttribute("aria-activedescendant", `found-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  private key(event: KeyboardEvent): void {
    const count = this.found.length;
    if (event.key === "ArrowDown" && count > 0) this.active = (this.active + 1) % count;
    else if (event.key === "ArrowUp" && count > 0) this.active = (this.active + count - 1) % count;
    else if (event.key === "Enter" && this.active >= 0) this.take(this.active);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    this.mark();
  }

  private take(k: number): void {
    const { view, vertex } = this.found[k];
    this.close();
    this.choose(view, vertex);
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}
