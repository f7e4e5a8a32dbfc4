// Numbers of the result: cost, coupling error against time, agreement on pairs kept back, and how exact the heat is.
import type { Data, View } from "../model/data.ts";
import type { CheckReport, HeatStore } from "../model/heat.ts";
import { KINDS } from "../model/changes.ts";
import { CurveChart } from "./curve.ts";
import { el } from "./dom.ts";
import { formatCount, formatNumber, shorten } from "./format.ts";

const NUMBERS: readonly [string, string, string][] = [
  ["cost", "Cost", "what was minimized: distance plus α times coupling error"],
  ["distance", "Distance", "how far the weights have moved"],
  ["coupling_before", "Coupling before", "how differently heat diffused on the graphs that were given"],
  ["coupling", "Coupling after", "how differently heat diffuses on the coupled graphs"],
  ["alpha", "α", "how much the coupling error counts"],
  ["seconds", "Seconds", "time of the search"],
];

export class Overview {
  readonly element = el("div", { class: "sections" });
  private readonly chart: CurveChart | null;
  private readonly accuracy = el("p", { class: "hint" });

  constructor(
    private readonly data: Data,
    private readonly heat: HeatStore,
  ) {
    const { curve, times } = data.header;
    const drawable =
      curve &&
      curve.times.filter((time) => time > 0).length > 1 &&
      [...curve.before, ...curve.after].some((value) => value !== null && value > 0);
    this.chart = curve && drawable ? new CurveChart(curve, times.coupled) : null;
    this.element.append(this.summary());
    if (this.chart) this.element.append(section("Coupling error against time", this.chart.element));
    if (data.header.agreement.length > 0) this.element.append(this.agreement());
    this.element.append(this.graphs(), section("How exact the heat is", this.accuracy));
    this.sayAccuracy();
  }

  setTime(time: number): void {
    this.chart?.setTime(time);
  }

  private summary(): HTMLElement {
    const { summary } = this.data.header;
    const status = typeof summary.status === "string" ? el("p", { class: "status" }, summary.status) : null;
    const items = NUMBERS.filter(([key]) => typeof summary[key] === "number").map(([key, name, meaning]) =>
      el("div", { title: meaning }, el("dt", {}, name), el("dd", {}, formatNumber(summary[key] as number))),
    );
    const text =
      typeof summary.text === "string" && summary.text !== ""
        ? el("details", {}, el("summary", {}, "As the library prints it"), el("pre", {}, summary.text))
        : null;
    const method = typeof summary.method === "string" ? el("p", { class: "hint" }, summary.method) : null;
    return section("Result", status, method, el("dl", { class: "numbers" }, ...items), text);
  }

  private agreement(): HTMLElement {
    const { views, header } = this.data;
    const chances = header.agreement.some(({ chance }) => chance !== null);
    const rows = header.agreement.map(({ views: [k, l], pairs, before, after, chance }) => {
      const numbers = [formatCount(pairs), formatNumber(before, 3), formatNumber(after, 3), ...(chances ? [formatNumber(chance, 2)] : [])];
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, `${shorten(views[k].name, 18)} – ${shorten(views[l].name, 18)}`),
        ...numbers.map((text) => el("td", {}, text)),
      );
    });
    const head = el(
      "tr",
      {},
      ...["Views", "Pairs", "Before", "After", ...(chances ? ["Chance"] : [])].map((text) => el("th", { scope: "col" }, text)),
    );
    return section("Agreement on pairs kept back", el("table", { class: "small" }, el("thead", {}, head), el("tbody", {}, ...rows)));
  }

  private graphs(): HTMLElement {
    const rows = this.data.views.map((view) => {
      const { n, m } = view.header.whole;
      const name = el("th", { scope: "row", title: view.name.slice(0, 400) }, shorten(view.name, 18));
      return el("tr", {}, name, ...[n, m, ...countsOf(view)].map((count) => el("td", {}, formatCount(count))));
    });
    const titles = [
      ["View", "View"],
      ["n", "Vertices"],
      ["m", "Edges"],
      ["cut", "Edges cut"],
      ["weak.", "Edges weakened"],
      ["str.", "Edges strengthened"],
      ["new", "New edges"],
    ];
    const head = el("tr", {}, ...titles.map(([text, title]) => el("th", { scope: "col", title, "aria-label": title }, text)));
    return section("Graphs", el("table", { class: "small" }, el("thead", {}, head), el("tbody", {}, ...rows)));
  }

  sayAccuracy(report?: CheckReport): void {
    const { header, stored } = this.data;
    const texts = [
      `Heat is computed here, from the weights in this page, by a Chebyshev series: within ${formatNumber(this.heat.statedError, 2)} of the exact heat, in parts of the norm of the heat at time 0.`,
    ];
    if (header.heat.weights === "single")
      texts.push("The weights in this page are rounded to 32 bits, which adds about 6e−8 of each of them.");
    if (stored.length > 0)
      texts.push(
        "Where a graph is shown in part, heat of functions is that of the whole graph, stored in 16 bits; heat that starts at a vertex flows on what is shown.",
      );
    if (report && report.values > 0)
      texts.push(
        `Compared with ${formatCount(report.values)} values by the library: the largest difference is ${formatNumber(report.largest, 2)}.`,
      );
    this.accuracy.textContent = texts.join(" ");
    this.accuracy.classList.toggle("warning", report !== undefined && report.excess > 2);
  }
}

/** Edges cut, weakened, strengthened and new: of the whole graph where they are known, else of what is shown. */
function countsOf({ kind, header }: View): number[] {
  const { counts } = header.whole;
  if (counts) return ["cut", "weakened", "strengthened", "switched on"].map((name) => counts[name] ?? 0);
  const shown = new Array<number>(KINDS.length).fill(0);
  for (const value of kind) shown[value]++;
  return shown.slice(1);
}

export const section = (title: string, ...children: (Node | null)[]): HTMLElement => el("section", {}, el("h2", {}, title), ...children);
