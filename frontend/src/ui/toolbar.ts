// The two rows above the panels: title, search and buttons; what is shown and where heat starts.
import type { Data } from "../model/data.ts";
import { readSource, writeSource, type Source } from "../model/source.ts";
import { EDGES, SHOWN, type Edges, type Shown, type State, type Store } from "../model/state.ts";
import { el, icon, segments, select } from "./dom.ts";
import { shorten } from "./format.ts";
import { MOST_SHAPES } from "./figure.ts";

export interface ToolbarActions {
  source(source: Source): void;
  savePng(): void;
  saveSvg(): void;
  copyLink(): void;
  toggleTheme(): void;
  toggleSide(): void;
  help(): void;
}

const SHOWN_TEXT: Record<Shown, string> = { both: "Both", before: "Before", after: "After" };
const EDGES_TEXT: Record<Edges, string> = { all: "all", changed: "changed only", none: "none" };
/** Stands for a clicked vertex in the list of functions. */
const VERTEX = "vertex";

const button = (name: Parameters<typeof icon>[0], label: string, act: () => void, text?: string): HTMLButtonElement =>
  el(
    "button",
    { type: "button", class: text ? "text" : "icon", title: label, "aria-label": label, on: { click: act } },
    icon(name),
    text ? ` ${text}` : null,
  );

export class Toolbar {
  readonly top: HTMLElement;
  readonly controls: HTMLElement;
  private readonly sources: HTMLSelectElement;
  private readonly vertexOption = el("option", { value: VERTEX });
  private readonly views: HTMLSelectElement | null;
  private readonly edges: HTMLSelectElement;
  private readonly shown: ReturnType<typeof segments<Shown>>;
  private readonly linked = el("input", { type: "checkbox" });

  constructor(
    private readonly data: Data,
    store: Store,
    search: HTMLElement,
    actions: ToolbarActions,
  ) {
    const { header } = data;
    this.top = el(
      "header",
      { class: "top" },
      el("h1", { title: header.title.slice(0, 400) }, shorten(header.title, 120)),
      search,
      button("save", "Save what is seen as a PNG picture", actions.savePng, "PNG"),
      button(
        "save",
        `Save what is seen as an SVG figure (lines and circles up to ${MOST_SHAPES.toLocaleString("en-US")} shapes, a picture inside above)`,
        actions.saveSvg,
        "SVG",
      ),
      button("link", "Copy a link that keeps the state", actions.copyLink),
      button("theme", "Light or dark (D)", actions.toggleTheme),
      el(
        "button",
        { type: "button", class: "icon", title: "Pointer and keys (?)", "aria-label": "Pointer and keys", on: { click: actions.help } },
        "?",
      ),
      button("side", "Show or hide the side panel", actions.toggleSide),
    );
    const sources = header.functions.map(({ name }, index) => ({
      value: writeSource({ type: "function", index }),
      text: shorten(name, 60),
    }));
    const source = select("Source", sources, "f:0", (value) => this.choose(value, actions));
    this.sources = source.input;
    const views = [{ value: "all", text: "all" }, ...data.views.map((view) => ({ value: `${view.index}`, text: shorten(view.name, 40) }))];
    const view =
      data.views.length > 1 ? select("View", views, "all", (value) => store.set({ view: value === "all" ? null : Number(value) })) : null;
    this.views = view?.input ?? null;
    this.shown = segments(
      "Graphs shown",
      SHOWN.map((value) => ({ value, text: SHOWN_TEXT[value] })),
      (value) => store.set({ shown: value }),
    );
    const edges = select(
      "Edges",
      EDGES.map((value) => ({ value, text: EDGES_TEXT[value] })),
      "all",
      (value) => store.set({ edges: value }),
    );
    this.edges = edges.input;
    this.linked.addEventListener("change", () => store.set({ linked: this.linked.checked }));
    const linked =
      data.views.length > 1
        ? el("label", { class: "check", title: "Moving one view moves all of them (L)" }, this.linked, "Link cameras")
        : null;
    this.controls = el(
      "div",
      { class: "controls", role: "toolbar", "aria-label": "What is shown" },
      source.element,
      this.shown.element,
      view?.element,
      edges.element,
      linked,
    );
  }

  private choose(value: string, actions: ToolbarActions): void {
    const source = readSource(value, this.data);
    if (source) actions.source(source);
  }

  show(state: State, sourceText: string): void {
    if (state.source.type === "vertex") {
      this.vertexOption.textContent = `vertex ${shorten(sourceText, 40)}`;
      if (!this.vertexOption.isConnected) this.sources.prepend(this.vertexOption);
      this.sources.value = VERTEX;
    } else {
      this.vertexOption.remove();
      this.sources.value = writeSource(state.source);
    }
    if (this.views) this.views.value = state.view === null ? "all" : `${state.view}`;
    this.shown.show(state.shown);
    this.edges.value = state.edges;
    this.linked.checked = state.linked;
  }
}
