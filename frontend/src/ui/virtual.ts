// A list of any length that has only the rows in sight in the page. One tab stop; arrows move within.
import { clear, el } from "./dom.ts";

const SPARE = 6;

export interface VirtualOptions {
  rowHeight: number;
  label: string;
  makeRow(index: number): HTMLElement;
  choose(index: number): void;
}

export class VirtualRows {
  readonly element: HTMLElement;
  private readonly space = el("div", { class: "space", role: "presentation" });
  private count = 0;
  private active = 0;
  private static made = 0;
  private readonly id = `rows${VirtualRows.made++}`;

  constructor(private readonly options: VirtualOptions) {
    this.element = el("div", { class: "rows", role: "rowgroup", tabindex: 0, "aria-label": options.label }, this.space);
    this.element.addEventListener("scroll", () => this.fill());
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.fill()).observe(this.element);
  }

  setCount(count: number): void {
    this.count = count;
    this.active = 0;
    this.element.scrollTop = 0;
    this.space.style.height = `${count * this.options.rowHeight}px`;
    this.fill();
  }

  fill(): void {
    const { rowHeight, makeRow, choose } = this.options;
    const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - SPARE);
    const last = Math.min(this.count, Math.ceil((this.element.scrollTop + this.element.clientHeight) / rowHeight) + SPARE);
    clear(this.space);
    for (let index = first; index < last; index++) {
      const row = makeRow(index);
      row.id = `${this.id}-${index}`;
      row.style.top = `${index * rowHeight}px`;
      row.setAttribute("aria-rowindex", `${index + 2}`);
      row.classList.toggle("active", index === this.active);
      row.addEventListener("click", () => {
        this.active = index;
        this.fill();
        choose(index);
      });
      this.space.append(row);
    }
    if (this.count > 0) this.element.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.options.rowHeight) - 1);
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && this.count > 0) this.options.choose(this.active);
    else if (event.key in moves) this.moveTo(this.active + moves[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private moveTo(index: number): void {
    const { rowHeight } = this.options;
    this.active = Math.max(0, Math.min(this.count - 1, index));
    const top = this.active * rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) this.element.scrollTop = top + rowHeight - clientHeight;
    this.fill();
  }
}
