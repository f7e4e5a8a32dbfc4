// The panels: their frames and captions, and the canvas and marks that lie in them.
import { cssColor, makeTable, type Table } from "../color/maps.ts";
import { extremes, makeScale, type Scale } from "../color/scale.ts";
import type { Data } from "../model/data.ts";
import type { HeatFrame, HeatStore } from "../model/heat.ts";
import type { State, Store } from "../model/state.ts";
import { arrange, type Panel } from "../scene/arrange.ts";
import { mix } from "../scene/algebra.ts";
import { home, type Camera } from "../scene/camera.ts";
import { Lens, type Extent } from "../scene/lens.ts";
import { extentOf, homeRotation } from "../scene/pose.ts";
import { keyOf, type PanelDrawing } from "../scene/drawing.ts";
import { Renderer } from "../scene/renderer.ts";
import { el, icon, svg } from "./dom.ts";
import { formatCount, shorten } from "./format.ts";
import { marksOf, type Pointed } from "./marks.ts";
import { isDark, unitColor } from "./theme.ts";

export interface PanelFrame {
  panel: Panel;
  element: HTMLElement;
  overlay: SVGSVGElement;
  note: HTMLElement;
}

/** Milliseconds after which a camera that has moved is taken to rest. */
const REST = 150;

export class Stage {
  readonly element = el("div", { class: "stage" });
  readonly renderer: Renderer;
  readonly homes: Camera[];
  frames: PanelFrame[] = [];
  scale: Scale = makeScale(0, 1, "linear");
  table: Table = makeTable("heat", false, false);
  private pointed: Pointed | null = null;
  /** Where heat is between two stops; a whole number except while it plays. */
  position = 0;
  /** Told whenever panels are new, so that pointers can be listened to. */
  onPanels: (frames: PanelFrame[]) => void = () => {};
  onScale: () => void = () => {};

  private readonly canvas = el("canvas", { "aria-hidden": "true" });
  private readonly extents: Extent[];
  private readonly loaded = new Map<string, HeatFrame>();
  private readonly ranges = new WeakMap<HeatFrame, [number, number]>();
  private cameras: Camera[] = [];
  private movedAt = 0;
  /** Marks lie over the canvas, and painting them again in every frame would cost more than the frame. */
  private marksAreOld = true;
  /** Edges are still being drawn. */
  missing = true;
  private requested = 0;
  private last = 0;

  constructor(
    private readonly data: Data,
    private readonly store: Store,
    private readonly heat: HeatStore,
    private readonly tick: (now: number) => boolean,
  ) {
    this.homes = homesOf(data);
    this.position = store.get().stop;
    this.extents = data.views.map((view, k) => extentOf(view, this.homes[k].rotation));
    this.element.append(this.canvas);
    this.renderer = new Renderer(this.canvas, data.views);
    new ResizeObserver(() => this.layOut()).observe(this.element);
    store.subscribe((state, changed) => this.follow(state, changed));
  }

  private follow(state: State, changed: ReadonlySet<keyof State>): void {
    if (changed.has("shown") || changed.has("view")) this.layOut();
    if (changed.has("cameras")) this.forgetMoved(state.cameras);
    if (changed.has("theme") || changed.has("map") || changed.has("edges")) this.setLook();
    if (!state.playing) this.position = state.stop;
    if (["cameras", "source", "edge", "edges", "theme"].some((key) => changed.has(key as keyof State))) this.marksAreOld = true;
    this.request();
  }

  point(pointed: Pointed | null): void {
    this.pointed = pointed;
    this.marksAreOld = true;
    this.request();
  }

  private forgetMoved(cameras: Camera[]): void {
    this.movedAt = performance.now();
    cameras.forEach((camera, k) => camera !== this.cameras[k] && this.renderer.moved(k));
    this.cameras = cameras;
  }

  setLook(): void {
    const { theme, map, edges } = this.store.get();
    const dark = isDark(theme);
    this.table = makeTable(map, this.scale.signed, dark);
    this.marksAreOld = true;
    this.renderer.setLook({ dark, page: unitColor("--page"), background: unitColor("--panel"), table: this.table, edges });
    this.onScale();
    this.request();
  }

  layOut(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (width === 0 || height === 0) return;
    const { view, shown } = this.store.get();
    const views = view === null ? this.data.views.map(({ index }) => index) : [view];
    this.renderer.resize(width, height, this.renderer.software ? 1 : Math.min(devicePixelRatio, 2));
    const focused = this.frames.findIndex(({ element }) => element === document.activeElement);
    for (const { element } of this.frames) element.remove();
    const aspects = views.map((k) => this.extents[k].x / this.extents[k].y).sort((a, b) => a - b);
    const aspect = Math.min(3, Math.max(0.3, aspects[Math.floor(aspects.length / 2)]));
    this.frames = arrange(views, shown, width, height, aspect).map((panel) => this.makeFrame(panel));
    this.element.append(...this.frames.map(({ element }) => element));
    this.frames[focused]?.element.focus({ preventScroll: true });
    this.onPanels(this.frames);
    this.marksAreOld = true;
    this.request();
  }

  private makeFrame(panel: Panel): PanelFrame {
    const view = this.data.views[panel.view];
    const overlay = svg("svg", { class: "marks", "aria-hidden": "true", width: panel.width, height: panel.height });
    const note = el("div", { class: "note" });
    const caption = el(
      "div",
      { class: panel.width < 220 ? "caption narrow" : "caption" },
      el("b", { title: view.name.slice(0, 400) }, shorten(view.name, 40)),
      el("span", { class: `which ${panel.which}` }, panel.which),
    );
    const reset = el(
      "button",
      {
        type: "button",
        class: "reset",
        title: "Show all of it (0)",
        "aria-label": `Show all of ${shorten(view.name, 40)}`,
        on: { click: () => this.resetCamera(panel.view) },
      },
      icon("fit"),
    );
    const label = `${shorten(view.name, 60)}, ${panel.which}: ${formatCount(view.n)} vertices, ${formatCount(view.m)} edges. Arrow keys move, plus and minus zoom, Enter starts heat at the vertex in the middle.`;
    const element = el("div", { class: "panel", tabindex: 0, role: "application", "aria-label": label }, overlay, caption, note, reset);
    Object.assign(element.style, { left: `${panel.x}px`, top: `${panel.y}px`, width: `${panel.width}px`, height: `${panel.height}px` });
    return { panel, element, overlay, note };
  }

  // ---- cameras

  lens(panel: Panel): Lens {
    const { cameras } = this.store.get();
    return new Lens(cameras[panel.view], this.data.views[panel.view].dimensions === 2, this.extents[panel.view], panel);
  }

  /** Before and after share a camera; all views do where the reader has linked them. */
  setCamera(view: number, camera: Camera): void {
    const { cameras, linked } = this.store.get();
    const dimensions = this.data.views[view].dimensions;
    const follows = (k: number): boolean => k === view || (linked && this.data.views[k].dimensions === dimensions);
    this.store.set({ cameras: cameras.map((old, k) => (follows(k) ? camera : old)) });
  }

  resetCamera(view: number): void {
    const { cameras, linked } = this.store.get();
    this.store.set({ cameras: cameras.map((old, k) => (k === view || linked ? this.homes[k] : old)) });
  }

  // ---- frames

  request(): void {
    if (this.requested === 0) this.requested = requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.requested = 0;
    const passed = now - this.last;
    this.last = now;
    const goesOn = this.tick(now);
    this.missing = this.draw(passed, !goesOn && now - this.movedAt > REST);
    if (goesOn || this.missing) this.request();
  }

  /** Draws what is seen now; true if edges are still missing. */
  draw(passed = 16, resting = true): boolean {
    if (this.frames.length === 0) return false;
    const part = this.loadHeat();
    const drawings: PanelDrawing[] = this.frames.map(({ panel }) => ({
      panel,
      lens: this.lens(panel),
      silent: !this.heat.has(panel.view),
    }));
    const missing = this.renderer.draw(drawings, { part, scale: this.scale }, passed, resting);
    if (this.marksAreOld) this.drawMarks(drawings);
    return missing;
  }

  /** Waits until all edges are drawn, but not for long: what is saved is what is seen. */
  async settled(most: number): Promise<void> {
    const end = performance.now() + most;
    while (this.missing && performance.now() < end) await new Promise(requestAnimationFrame);
  }

  private loadHeat(): number {
    const stop = Math.floor(this.position);
    const part = this.position - stop;
    const { range, stretch } = this.store.get();
    const [low, high] = [stop, part > 0 ? stop + 1 : stop].map((at, slot) => this.loadSlot(at, slot as 0 | 1, range === "fixed"));
    this.setScale(makeScale(mix(low[0], high[0], part), mix(low[1], high[1], part), stretch));
    return part;
  }

  /** Loads a stop into all panels' slot; gives the range of its heat, or of time 0: no later heat lies outside that. */
  private loadSlot(stop: number, slot: 0 | 1, fixed: boolean): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    for (const { panel } of this.frames) {
      const frame = this.heat.at(panel.view, panel.which, this.heat.latest(panel.view, panel.which, stop));
      if (!frame) continue;
      const key = `${keyOf(panel)}:${slot}`;
      if (this.loaded.get(key) !== frame) this.renderer.setHeat(panel.view, panel.which, slot, frame);
      this.loaded.set(key, frame);
      const [least, most] = this.rangeOf(fixed ? (this.heat.at(panel.view, panel.which, 0) ?? frame) : frame);
      low = Math.min(low, least);
      high = Math.max(high, most);
    }
    return low <= high ? [low, high] : [0, 1];
  }

  private rangeOf(frame: HeatFrame): [number, number] {
    const known = this.ranges.get(frame) ?? extremes(frame);
    this.ranges.set(frame, known);
    return known;
  }

  private setScale(scale: Scale): void {
    const old = this.scale;
    this.scale = scale;
    if (old.signed !== scale.signed) this.setLook();
    else if (old.low !== scale.low || old.high !== scale.high || old.stretch !== scale.stretch) this.onScale();
  }

  private drawMarks(drawings: PanelDrawing[]): void {
    this.marksAreOld = false;
    const state = this.store.get();
    this.frames.forEach(({ panel, overlay, note }, k) => {
      overlay.replaceChildren(...marksOf(this.data, state, panel, drawings[k].lens, this.pointed));
      const silent = drawings[k].silent;
      note.textContent = silent ? "No partner here: no heat" : "";
    });
  }

  colorOf(part: number): string {
    return cssColor(this.table, part);
  }
}

export const homesOf = (data: Data): Camera[] => data.views.map((view) => home(homeRotation(view)));
