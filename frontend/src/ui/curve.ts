// Coupling error against time, before and after, with the current time marked.
import type { Curve } from "../format/header.ts";
import { el, svg } from "./dom.ts";
import { formatNumber } from "./format.ts";

const WIDTH = 300;
const HEIGHT = 150;
const LEFT = 44;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 26;

type Place = (value: number) => number;

/** A log axis over the positive values. */
function logAxis(values: number[], from: number, to: number): { place: Place; low: number; high: number } {
  const positive = values.filter((value) => value > 0);
  const low = Math.log10(Math.min(...positive));
  const high = Math.log10(Math.max(...positive));
  const span = high - low || 1;
  return { place: (value) => from + ((Math.log10(value) - low) / span) * (to - from), low, high };
}

/** Whole powers of ten, or a few of them, or the ends where there are none. */
export function decades(low: number, high: number, most = 4): number[] {
  const first = Math.ceil(low - 1e-9);
  const last = Math.floor(high + 1e-9);
  if (last < first) return [10 ** low, 10 ** high];
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const found: number[] = [];
  for (let power = first; power <= last; power += step) found.push(10 ** power);
  return found;
}

const known = (values: (number | null)[]): number[] => values.filter((value): value is number => value !== null && value > 0);

export class CurveChart {
  readonly element: HTMLElement;
  private readonly marker = svg("line", { class: "now", y1: TOP, y2: HEIGHT - BOTTOM });
  private readonly readout = el("p", { class: "hint" });
  private readonly x: ReturnType<typeof logAxis>;

  constructor(
    private readonly curve: Curve,
    coupled: readonly number[],
  ) {
    this.x = logAxis(curve.times, LEFT, WIDTH - RIGHT);
    const y = logAxis([...known(curve.before), ...known(curve.after)], HEIGHT - BOTTOM, TOP);
    const chart = svg("svg", { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": this.describe() });
    chart.append(...this.grid(y), ...this.coupledMarks(coupled), this.path("before", y.place), this.path("after", y.place), this.marker);
    const legend = el(
      "p",
      { class: "curve-legend" },
      el("span", { class: "key before" }),
      "before",
      el("span", { class: "key after" }),
      "after",
    );
    this.element = el("div", {}, legend, chart, this.readout);
  }

  private describe(): string {
    const last = this.curve.times.length - 1;
    return `Coupling error against time. At the first time ${formatNumber(this.curve.before[0])} before and ${formatNumber(this.curve.after[0])} after; at the last ${formatNumber(this.curve.before[last])} and ${formatNumber(this.curve.after[last])}.`;
  }

  private grid(y: ReturnType<typeof logAxis>): SVGElement[] {
    const across = decades(y.low, y.high).flatMap((value) => [
      svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y.place(value), y2: y.place(value) }),
      svg("text", { x: LEFT - 6, y: y.place(value) + 3.5, "text-anchor": "end" }, formatNumber(value, 2)),
    ]);
    const below = decades(this.x.low, this.x.high).map((value) =>
      svg("text", { x: this.x.place(value), y: HEIGHT - 9, "text-anchor": "middle" }, formatNumber(value, 2)),
    );
    return [...across, ...below];
  }

  private coupledMarks(times: readonly number[]): SVGElement[] {
    const { times: range } = this.curve;
    const inside = times.filter((time) => time >= range[0] && time <= range[range.length - 1]);
    return inside.map((time) =>
      svg("line", { class: "coupled", x1: this.x.place(time), x2: this.x.place(time), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 5 }),
    );
  }

  private path(which: "before" | "after", y: Place): SVGPathElement {
    let d = "";
    let pen = "M";
    this.curve[which].forEach((value, k) => {
      const drawn = value !== null && value > 0 && this.curve.times[k] > 0;
      if (drawn) d += `${pen}${this.x.place(this.curve.times[k]).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = drawn ? "L" : "M";
    });
    return svg("path", { class: `line ${which}`, d });
  }

  setTime(time: number): void {
    const { times, before, after } = this.curve;
    const inside = time > 0 && time >= times[0] * 0.999 && time <= times[times.length - 1] * 1.001;
    this.marker.toggleAttribute("hidden", !inside);
    if (inside) this.marker.setAttribute("x1", `${this.x.place(time)}`);
    if (inside) this.marker.setAttribute("x2", `${this.x.place(time)}`);
    if (!inside) return void (this.readout.textContent = "The current time is outside of the curve.");
    let k = 0;
    times.forEach((t, l) => (k = Math.abs(Math.log(t / time)) < Math.abs(Math.log(times[k] / time)) ? l : k));
    this.readout.textContent = `At time ${formatNumber(times[k], 3)}: ${formatNumber(before[k])} before, ${formatNumber(after[k])} after`;
  }
}
