// What can be done, by pointer and by key.
import { el } from "./dom.ts";

const POINTER: readonly [string, string][] = [
  ["Click a vertex", "start heat there, and at its partners in other views"],
  ["Drag", "move a flat graph, rotate one in space"],
  ["Shift + drag", "move a graph in space"],
  ["Wheel or pinch", "zoom"],
];

const KEYS: readonly [string, string][] = [
  ["Space", "play or pause"],
  ["← →", "one stop back or forth in time (on a panel: move or rotate)"],
  ["Home, End", "time 0, last time"],
  ["1, 2, 3", "both graphs, before only, after only"],
  ["F", "next corresponding function as the source"],
  ["/", "search by name"],
  ["L", "link the cameras of all views"],
  ["D", "light or dark"],
  ["Tab, then + − 0", "on a panel: zoom in, zoom out, show all"],
  ["Enter", "on a panel: start heat at the vertex in the middle"],
  ["?", "this list"],
];

const table = (rows: readonly [string, string][]): HTMLElement =>
  el(
    "table",
    {},
    el("tbody", {}, ...rows.map(([key, text]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, text)))),
  );

export class Help {
  readonly element: HTMLDialogElement;
  /** Keys without Ctrl or Alt can be in the way of speech input, so they can be turned off. */
  readonly single = el("input", { type: "checkbox", checked: true });

  constructor(madeBy: string) {
    const close = el("button", { type: "button", class: "text", on: { click: () => this.element.close() } }, "Close");
    const keys = el("label", { class: "check" }, this.single, "Single-key shortcuts are on");
    this.element = el(
      "dialog",
      { class: "help", "aria-labelledby": "help-title" },
      el("h2", { id: "help-title" }, "Pointer and keys"),
      table(POINTER),
      table(KEYS),
      keys,
      el("p", { class: "hint" }, `Made by ${madeBy}.`),
      close,
    );
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
