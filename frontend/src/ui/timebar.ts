// Play, the slider with the coupled times marked, and the color bar.
import type { Table } from "../color/maps.ts";
import { valueAt } from "../color/scale.ts";
import type { Data } from "../model/data.ts";
import { MAPS, RANGES, STRETCHES, type MapName, type Range, type State, type Store, type Stretch } from "../model/state.ts";
import { el, icon, select, svg } from "./dom.ts";
import { formatNumber } from "./format.ts";
import type { Stage } from "./stage.ts";

const BAR_WIDTH = 200;

const MAP_TEXT: Record<MapName, string> = { heat: "heat", viridis: "viridis", inferno: "inferno" };
const RANGE_TEXT: Record<Range, string> = { frame: "of this time", fixed: "of time 0" };
const STRETCH_TEXT: Record<Stretch, string> = { linear: "linear", root: "square root", log: "logarithm" };

/** Where a time lies on the slider, in parts of it; null outside. */
export function placeOf(time: number, { least, most, count }: { least: number; most: number; count: number }): number | null {
  if (time === 0) return 0;
  if (time < least * (1 - 1e-9) || time > most * (1 + 1e-9)) return null;
  return (1 + (most > least ? (Math.log(time / least) / Math.log(most / least)) * (count - 1) : 0)) / count;
}

export class TimeBar {
  readonly element: HTMLElement;
  private readonly play = el("button", { type: "button", class: "play", "aria-keyshortcuts": "Space" });
  private readonly slider: HTMLInputElement;
  private readonly readout = el("output", { class: "time" });
  private readonly busy = el("div", { class: "busy", role: "presentation" });
  private readonly ends = el("div", { class: "ends" });
  private playing: boolean | null = null;
  private endsShown = "";
  private table: Table | null = null;
  private readonly gradient = svg("linearGradient", { id: "heat-gradient" });
  /** How heat becomes color. */
  readonly choices: HTMLElement;
  private readonly map: HTMLSelectElement;
  private readonly range: HTMLSelectElement;
  private readonly stretch: HTMLSelectElement;

  constructor(
    private readonly data: Data,
    private readonly store: Store,
    private readonly stage: Stage,
    toggle: () => void,
    seek: (stop: number) => void,
  ) {
    this.slider = el("input", { type: "range", min: 0, max: data.stops.length - 1, step: 1, value: 0, "aria-label": "Time of diffusion" });
    this.slider.addEventListener("input", () => seek(Number(this.slider.value)));
    this.play.addEventListener("click", toggle);
    const range = select(
      "Range",
      RANGES.map((value) => ({ value, text: RANGE_TEXT[value] })),
      "frame",
      (value) => store.set({ range: value }),
    );
    const stretch = select(
      "Scale",
      STRETCHES.map((value) => ({ value, text: STRETCH_TEXT[value] })),
      "root",
      (value) => store.set({ stretch: value }),
    );
    const map = select(
      "Colors",
      MAPS.map((value) => ({ value, text: MAP_TEXT[value] })),
      "heat",
      (value) => store.set({ map: value }),
    );
    this.map = map.input;
    this.range = range.input;
    this.stretch = stretch.input;
    const track = el("div", { class: "track" }, this.ticks(), this.slider, this.busy);
    this.element = el(
      "div",
      { class: "timebar" },
      this.play,
      el("div", { class: "clock" }, el("span", { class: "hint" }, "Time"), this.readout),
      track,
      this.colorBar(),
    );
    this.choices = el(
      "div",
      { class: "choices", role: "group", "aria-label": "Colors of heat" },
      map.element,
      range.element,
      stretch.element,
    );
    stage.onScale = () => this.showScale();
  }

  private ticks(): HTMLElement {
    const { times } = this.data.header;
    const places = times.coupled.map((time) => placeOf(time, times)).filter((place) => place !== null);
    const ticks = places.map((place) => {
      const tick = el("i", { title: "The graphs were coupled at this time" });
      tick.style.left = `${100 * place}%`;
      return tick;
    });
    return el("div", { class: "ticks", "aria-hidden": "true" }, ...ticks);
  }

  private colorBar(): HTMLElement {
    const bar = svg(
      "svg",
      { class: "colorbar", width: BAR_WIDTH, height: 12, "aria-hidden": "true" },
      svg("defs", {}, this.gradient),
      svg("rect", { width: BAR_WIDTH, height: 12, rx: 2, fill: "url(#heat-gradient)" }),
    );
    return el("div", { class: "colors" }, bar, this.ends);
  }

  private showScale(): void {
    const { scale, table } = this.stage;
    if (table !== this.table) this.showTable(table);
    const values = [0, 0.5, 1].map((part) =>
      part === 0 && scale.stretch === "log" ? `≤ ${formatNumber(valueAt(1e-9, scale), 2)}` : formatNumber(valueAt(part, scale), 2),
    );
    const key = `${this.store.get().stop} ${scale.stretch} ${this.store.get().playing || scale.high}`;
    if (key === this.endsShown) return; // while heat plays this comes in every frame, and painting is dear
    this.endsShown = key;
    this.ends.replaceChildren(...values.map((value) => el("span", {}, value)));
    this.stretch.disabled = scale.signed;
  }

  private showTable(table: Table): void {
    this.table = table;
    const stops = Array.from({ length: 17 }, (_, k) =>
      svg("stop", { offset: `${(100 * k) / 16}%`, "stop-color": this.stage.colorOf(k / 16) }),
    );
    this.gradient.replaceChildren(...stops);
  }

  show(state: State, progress: number): void {
    const { stop, playing } = state;
    const text = formatNumber(this.data.stops[stop], 3);
    if (playing !== this.playing) this.showPlaying(playing);
    if (Number(this.slider.value) !== stop) this.slider.value = `${stop}`;
    this.slider.setAttribute("aria-valuetext", `time ${text}, stop ${stop} of ${this.data.stops.length - 1}`);
    this.slider.style.setProperty("--done", `${(100 * stop) / (this.data.stops.length - 1)}%`);
    this.readout.textContent = text;
    const moves = formatNumber(this.data.stops[stop] / this.data.header.times.unit, 2);
    this.readout.title = `Time of diffusion; heat makes about ${moves} moves along edges in it`;
    this.busy.style.width = `${100 * progress}%`;
    this.busy.hidden = progress >= 1;
    this.map.value = state.map;
    this.range.value = state.range;
    this.stretch.value = state.stretch;
  }

  private showPlaying(playing: boolean): void {
    this.playing = playing;
    this.play.replaceChildren(icon(playing ? "pause" : "play"));
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.play.title = playing ? "Pause (Space)" : "Play (Space)";
  }
}
