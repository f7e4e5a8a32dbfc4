// Puts the parts together: data, state, heat, panels and everything beside them.
import type { Which } from "../format/header.ts";
import workerCode from "worker-code";
import type { Row } from "../model/changes.ts";
import { nameOf, type Data } from "../model/data.ts";
import { HeatStore } from "../model/heat.ts";
import { readLink } from "../model/link.ts";
import { defaultSource, sameSource, startsIn, type Source } from "../model/source.ts";
import { Store, type State } from "../model/state.ts";
import { clampZoom } from "../scene/camera.ts";
import { Address } from "./address.ts";
import { Announcer } from "./announce.ts";
import { el } from "./dom.ts";
import { MOST_SHAPES, savePng, saveSvg, type FigureParts } from "./figure.ts";
import { formatCount, formatNumber, shorten } from "./format.ts";
import { Help } from "./help.ts";
import { listenForKeys } from "./keys.ts";
import { legendOf } from "./legend.ts";
import type { Pointed } from "./marks.ts";
import { Nearest } from "./nearest.ts";
import { Overview } from "./overview.ts";
import { Player } from "./player.ts";
import { PanelPointers } from "./pointers.ts";
import { showProblem } from "./problem.ts";
import { Search } from "./search.ts";
import { homesOf, Stage } from "./stage.ts";
import { ChangesTable } from "./table.ts";
import { Tabs } from "./tabs.ts";
import { applyTheme, isDark, onSystemTheme } from "./theme.ts";
import { TimeBar } from "./timebar.ts";
import { Toolbar } from "./toolbar.ts";
import { Tooltip } from "./tooltip.ts";

const LOST = "The browser has taken the graphics away from this page, as it does when memory is short. Load the page again.";

export class App {
  readonly store: Store;
  readonly heat: HeatStore;
  readonly player: Player;
  private readonly stage: Stage;
  private readonly address: Address;
  private readonly announcer = new Announcer();
  private readonly help: Help;
  private readonly toolbar: Toolbar;
  private readonly timebar: TimeBar;
  private readonly overview: Overview;
  private readonly nearest: Nearest;
  private readonly tooltip: Tooltip;
  private readonly search: Search;
  private readonly legend = el("div");
  private readonly message = el("div", { class: "toast", role: "status", hidden: true });
  private readonly root: HTMLElement;
  private messageTimer = 0;

  constructor(
    root: HTMLElement,
    readonly data: Data,
  ) {
    this.root = root;
    const homes = homesOf(data);
    this.store = new Store({ ...this.defaults(), cameras: homes, ...readLink(location.hash, data, homes) });
    applyTheme(this.store.get().theme);
    this.heat = new HeatStore(data, workerCode, () => this.heatCame());
    this.player = new Player(data, this.store, this.heat, () => this.stage);
    this.stage = new Stage(data, this.store, this.heat, (now) => this.player.tick(now));
    this.help = new Help(data.header.made_by);
    this.tooltip = new Tooltip(data, this.heat);
    this.search = new Search(
      data,
      (view, vertex) => this.find(view, vertex),
      (text) => this.announcer.say(text),
    );
    this.toolbar = new Toolbar(data, this.store, this.search.element, {
      source: (source) => this.setSource(source),
      savePng: () => void savePng(this.parts()),
      saveSvg: () => void this.saveSvg(),
      copyLink: () => void this.address.copy().then((text) => this.toast(text)),
      toggleTheme: () => this.toggleTheme(),
      toggleSide: () => root.classList.toggle("wide"),
      help: () => this.help.toggle(),
    });
    this.timebar = new TimeBar(
      data,
      this.store,
      this.stage,
      () => this.player.toggle(),
      (stop) => this.player.seek(stop),
    );
    this.overview = new Overview(data, this.heat);
    const table = new ChangesTable(data, this.store, (row) => this.zoomTo(row));
    this.nearest = new Nearest(
      data,
      this.heat,
      (view, vertex) => this.setSource({ type: "vertex", view, vertex }),
      () => this.show(),
    );
    const tabs = new Tabs(
      [
        { title: "Overview", content: this.overview.element },
        { title: `Changes (${formatCount(table.total)})`, content: table.element },
        { title: "Nearest", content: this.nearest.element },
      ],
      "Results",
      () => {},
    );
    this.address = new Address(data, this.store, homes);
    this.build(tabs.element);
    this.listen();
    this.stage.layOut();
    this.themeChanged();
    this.heat.start(this.store.get().source);
    const source = this.store.get().source;
    if (source.type === "vertex") this.nearest.choose(source.view);
    this.show();
  }

  private defaults(): Omit<State, "cameras"> {
    const { stops } = this.data;
    // Something is to be seen at once: heat that has begun to spread, before it is even.
    const stop = Math.round(0.4 * (stops.length - 1));
    return {
      view: null,
      stop,
      source: defaultSource(this.data),
      shown: "both",
      theme: "auto",
      map: "heat",
      range: "frame",
      stretch: "root",
      edges: "all",
      linked: false,
      edge: null,
      playing: false,
    };
  }

  private build(side: HTMLElement): void {
    const { notes } = this.data.header;
    const remarks =
      notes.length > 0 ? el("ul", { class: "notes", "aria-label": "Notes" }, ...notes.map((note) => el("li", {}, note))) : null;
    const below = el("div", { class: "below" }, this.legend, this.timebar.choices);
    const main = el("main", {}, this.toolbar.controls, remarks, this.stage.element, below, this.timebar.element);
    this.root.replaceChildren(this.toolbar.top, main, side, this.tooltip.element, this.message, this.announcer.element, this.help.element);
    this.root.classList.add("app");
    if (innerWidth < 760) this.root.classList.add("wide");
  }

  private listen(): void {
    this.store.subscribe((state, changed) => this.follow(state, changed));
    this.stage.onPanels = (frames) => {
      for (const frame of frames)
        new PanelPointers(this.stage, this.data.views[frame.panel.view], frame, {
          point: (pointed, x, y) => this.point(pointed, x, y),
          start: (view, vertex) => this.setSource({ type: "vertex", view, vertex }),
        });
    };
    onSystemTheme(() => this.themeChanged());
    this.stage.renderer.canvas.addEventListener("webglcontextlost", () => showProblem(this.root, LOST));
    listenForKeys(
      {
        play: () => this.player.toggle(),
        step: (by) => this.player.step(by),
        seek: (stop) => this.player.seek(stop),
        last: () => this.player.end(),
        shown: (shown) => this.store.set({ shown }),
        nextFunction: () => this.nextFunction(),
        search: () => this.search.input.focus(),
        link: () => this.store.set({ linked: !this.store.get().linked }),
        theme: () => this.toggleTheme(),
        help: () => this.help.toggle(),
      },
      () => this.help.single.checked,
    );
  }

  // ---- what follows from a change

  private follow(state: State, changed: ReadonlySet<keyof State>): void {
    if (changed.has("theme")) this.themeChanged();
    if (changed.has("source")) this.heat.start(state.source);
    if (changed.has("source") && state.source.type === "vertex") this.nearest.choose(state.source.view);
    this.show();
    if (changed.has("source")) this.saySource(state.source);
    else if (changed.has("stop") && !state.playing) this.announcer.say(`Time ${formatNumber(this.data.stops[state.stop], 3)}`);
    if (!state.playing) this.address.keep();
  }

  private themeChanged(): void {
    const { theme } = this.store.get();
    applyTheme(theme);
    this.legend.replaceChildren(legendOf(this.data, isDark(theme)));
    this.stage.setLook();
  }

  private show(): void {
    const state = this.store.get();
    const name = this.sourceText(state.source);
    this.toolbar.show(state, name);
    this.timebar.show(state, this.heat.progress());
    this.overview.setTime(this.data.stops[state.stop]);
    this.nearest.update(state, name);
  }

  private heatCame(): void {
    if (!this.stage) return;
    this.stage.request();
    const state = this.store.get();
    this.timebar.show(state, this.heat.progress());
    this.nearest.update(state, this.sourceText(state.source));
  }

  sourceText(source: Source): string {
    return source.type === "function" ? this.data.header.functions[source.index].name : nameOf(this.data.views[source.view], source.vertex);
  }

  private saySource(source: Source): void {
    const name = shorten(this.sourceText(source), 80);
    if (source.type === "function") return this.announcer.say(`Source: ${name}`);
    const others = this.data.views.filter(({ index }) => index !== source.view);
    const without = others.filter(({ index }) => startsIn(this.data, source, index).length === 0);
    const text =
      others.length === 0
        ? `Heat starts at ${name}`
        : without.length === 0
          ? `Heat starts at ${name} and at its partners in the other views`
          : without.length === others.length
            ? `Heat starts at ${name} only: it has no partners in other views`
            : `Heat starts at ${name}; it has no partner in ${without.map((view) => shorten(view.name, 24)).join(", ")}`;
    this.toast(text);
  }

  // ---- what can be done

  setSource(source: Source): void {
    if (!sameSource(source, this.store.get().source)) this.store.set({ source });
  }

  private nextFunction(): void {
    const { source } = this.store.get();
    const count = this.data.header.functions.length;
    if (count === 0) return;
    const index = source.type === "function" ? (source.index + 1) % count : 0;
    this.setSource({ type: "function", index });
  }

  private toggleTheme(): void {
    this.store.set({ theme: isDark(this.store.get().theme) ? "light" : "dark" });
  }

  private find(view: number, vertex: number): void {
    const { view: shown } = this.store.get();
    if (shown !== null && shown !== view) this.store.set({ view: null });
    this.setSource({ type: "vertex", view, vertex });
    this.center(view, [vertex], 3);
  }

  /** Puts some vertices into the middle of their view; they fill at most a third of it. */
  private center(view: number, vertices: number[], mostZoom: number): void {
    const { position } = this.data.views[view];
    const center = [0, 1, 2].map((d) => vertices.reduce((sum, v) => sum + position[3 * v + d], 0) / vertices.length) as [
      number,
      number,
      number,
    ];
    const reach = Math.max(...vertices.map((v) => Math.hypot(...center.map((c, d) => c - position[3 * v + d]))));
    const old = this.store.get().cameras[view];
    const zoom = clampZoom(Math.min(mostZoom, 1 / (3 * reach || 1e-9)));
    const cameras = this.store.get().cameras.map((camera, k) => (k === view ? { ...old, center, zoom: Math.max(1, zoom) } : camera));
    this.store.set({ cameras });
  }

  private zoomTo({ view, edge }: Row): void {
    const { i, j } = this.data.views[view];
    const { view: shown } = this.store.get();
    if (shown !== null && shown !== view) this.store.set({ view });
    this.store.set({ edge: { view, edge } });
    this.center(view, [i[edge], j[edge]], 40);
    this.announcer.say(
      `Zoomed to the edge from ${shorten(nameOf(this.data.views[view], i[edge]), 60)} to ${shorten(nameOf(this.data.views[view], j[edge]), 60)}`,
    );
  }

  private point(pointed: Pointed | null, x: number, y: number): void {
    if (pointed === null && this.tooltip.element.hidden) return;
    this.stage.point(pointed);
    if (pointed) this.tooltip.show(pointed, this.store.get().stop, x, y);
    else this.tooltip.hide();
  }

  // ---- saving

  private parts(): FigureParts {
    const state = this.store.get();
    return { data: this.data, state, stage: this.stage, heat: this.heat, sourceText: this.sourceText(state.source) };
  }

  private async saveSvg(): Promise<void> {
    if (!(await saveSvg(this.parts()))) this.toast(`More than ${formatCount(MOST_SHAPES)} shapes: the SVG holds a picture of them.`);
  }

  private toast(text: string): void {
    this.message.textContent = text;
    this.message.hidden = false;
    window.clearTimeout(this.messageTimer);
    this.messageTimer = window.setTimeout(() => (this.message.hidden = true), 5000);
  }

  // ---- for tests and measurements

  /** All edges are drawn. */
  get settled(): boolean {
    return !this.stage.missing;
  }

  heatAt(view: number, which: Which): Float64Array {
    const heat = this.heat.at(view, which, this.store.get().stop);
    return Float64Array.from(heat ?? []);
  }

  async check(): Promise<void> {
    if (this.data.header.checks.length > 0) this.overview.sayAccuracy(await this.heat.check());
  }
}
