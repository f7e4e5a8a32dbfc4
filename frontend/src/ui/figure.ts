// What is seen, as an SVG figure: lines and circles where there are few enough, else a picture of the canvas inside.
import { kindColor, KIND_STYLES } from "../color/kinds.ts";
import { partOf, valueAt } from "../color/scale.ts";
import type { Data, View } from "../model/data.ts";
import type { HeatFrame, HeatStore } from "../model/heat.ts";
import type { State } from "../model/state.ts";
import type { Panel } from "../scene/arrange.ts";
import { edgeStyle } from "../scene/edge-pictures.ts";
import { heavyWeight, isSeen, lengthsOf, strengthOf } from "../scene/edges.ts";
import type { Lens } from "../scene/lens.ts";
import { projectAll } from "../scene/picking.ts";
import { pointSize } from "../scene/renderer.ts";
import { SVG, svg } from "./dom.ts";
import { download } from "./download.ts";
import { formatNumber, shorten } from "./format.ts";
import { marksOf } from "./marks.ts";
import type { Stage } from "./stage.ts";
import { cssValue, isDark } from "./theme.ts";

/** More shapes than this make a file that drawing programs are slow with; the canvas's picture goes in instead. */
export const MOST_SHAPES = 20_000;
const FONT = "system-ui, sans-serif";
const FOOT = 44;

export interface FigureParts {
  data: Data;
  state: State;
  stage: Stage;
  heat: HeatStore;
  sourceText: string;
}

function shapeCount({ data, stage, state }: Pick<FigureParts, "data" | "stage" | "state">): number {
  let count = 0;
  for (const { panel } of stage.frames) {
    const { n, m, faces } = data.views[panel.view];
    count += faces ? faces.length / 3 : n + (state.edges === "none" ? 0 : m);
  }
  return count;
}

const text = (x: number, y: number, content: string, more: Record<string, unknown> = {}): SVGTextElement =>
  svg("text", { x, y, "font-family": FONT, "font-size": 12, fill: cssValue("--text"), ...more }, content);

class PanelShapes {
  private readonly view: View;
  private readonly projected: Float32Array;
  private readonly heat: HeatFrame | null;

  constructor(
    private readonly parts: FigureParts,
    private readonly panel: Panel,
    private readonly lens: Lens,
  ) {
    this.view = parts.data.views[panel.view];
    this.projected = new Float32Array(3 * this.view.n);
    projectAll(lens, this.view.position, this.projected);
    this.heat = parts.heat.at(panel.view, panel.which, parts.heat.latest(panel.view, panel.which, parts.state.stop));
  }

  private color(value: number): string {
    return this.heat ? this.parts.stage.colorOf(partOf(value, this.parts.stage.scale)) : cssValue("--line");
  }

  shapes(): SVGElement[] {
    return this.view.faces ? [...this.faces(this.view.faces), ...this.edges(true)] : [...this.edges(false), ...this.vertices()];
  }

  private edges(changedOnly: boolean): SVGElement[] {
    const { view, panel, lens, projected } = this;
    const { edges, theme } = this.parts.state;
    if (edges === "none") return [];
    const heavy = heavyWeight(view);
    const changes = view.kind.reduce((count, kind) => count + (kind === 0 ? 0 : 1), 0);
    const { alpha, strengthWidth, emphasis } = edgeStyle(view.m, changes, lengthsOf(view).mean, lens.scale, panel);
    const lines: SVGElement[] = [];
    for (const changed of [false, true])
      for (let e = 0; e < view.m; e++) {
        const kind = view.kind[e];
        if ((kind !== 0) !== changed || (kind === 0 && (changedOnly || edges === "changed")) || !isSeen(view, panel.which, e)) continue;
        const [a, b] = [3 * view.i[e], 3 * view.j[e]];
        const strength = strengthOf(view.weights[kind === 1 ? "before" : panel.which][e], heavy);
        const { width, dash } = KIND_STYLES[kind];
        const dashed = kind === 1 && panel.which === "before" ? "" : dash;
        lines.push(
          svg("line", {
            x1: projected[a].toFixed(2),
            y1: projected[a + 1].toFixed(2),
            x2: projected[b].toFixed(2),
            y2: projected[b + 1].toFixed(2),
            stroke: kindColor(kind, isDark(theme)),
            "stroke-width": (kind === 0
              ? 0.8 + strengthWidth * strength
              : Math.max(emphasis, 0.45) * width * (0.7 + 0.6 * strength)
            ).toFixed(2),
            "stroke-opacity": (kind === 0 ? alpha * (0.25 + 0.75 * strength) : emphasis * (0.5 + 0.5 * strength)).toFixed(3),
            "stroke-dasharray": dashed || null,
          }),
        );
      }
    return lines;
  }

  /** Cold ones first in flat views, far ones first in space, as on the screen. */
  private vertices(): SVGElement[] {
    const { view, projected, heat, panel, lens } = this;
    const radius = pointSize(view.n, panel, lens.camera.zoom, lengthsOf(view).short * lens.scale) / 2;
    const key = (v: number): number => (view.dimensions === 2 ? (heat?.[v] ?? 0) : -projected[3 * v + 2]);
    const order = Array.from({ length: view.n }, (_, v) => v).sort((a, b) => key(a) - key(b));
    return order.map((v) =>
      svg("circle", {
        cx: projected[3 * v].toFixed(2),
        cy: projected[3 * v + 1].toFixed(2),
        r: radius.toFixed(2),
        fill: this.color(heat?.[v] ?? 0),
        stroke: radius > 3 ? cssValue("--panel") : null,
        "stroke-width": radius > 3 ? 1 : null,
      }),
    );
  }

  /** Far faces first; each in one color, lit as on the screen. */
  private faces(faces: Uint32Array): SVGElement[] {
    const { projected, heat } = this;
    const depth = (k: number): number => projected[3 * faces[k] + 2] + projected[3 * faces[k + 1] + 2] + projected[3 * faces[k + 2] + 2];
    const order = Array.from({ length: faces.length / 3 }, (_, f) => 3 * f).sort((a, b) => depth(b) - depth(a));
    return order.map((k) => {
      const corners = [faces[k], faces[k + 1], faces[k + 2]];
      const mean = heat ? corners.reduce((sum, v) => sum + heat[v], 0) / 3 : 0;
      const fill = shaded(this.color(mean), this.light(corners));
      return svg("polygon", {
        points: corners.map((v) => `${projected[3 * v].toFixed(2)},${projected[3 * v + 1].toFixed(2)}`).join(" "),
        fill,
        stroke: fill,
        "stroke-width": 0.5,
      });
    });
  }

  private light([a, b, c]: number[]): number {
    const { position } = this.view;
    const at = (v: number, d: number): number => position[3 * v + d];
    const u = [0, 1, 2].map((d) => at(b, d) - at(a, d));
    const w = [0, 1, 2].map((d) => at(c, d) - at(a, d));
    const n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
    const { right, up, back } = this.lens;
    const seen = [right, up, back].map((axis) => axis[0] * n[0] + axis[1] * n[1] + axis[2] * n[2]);
    const length = Math.hypot(...seen) || 1;
    const sign = seen[2] < 0 ? -1 : 1;
    return 0.52 + 0.48 * Math.max(0, (sign * (-0.338 * seen[0] + 0.532 * seen[1] + 0.774 * seen[2])) / length);
  }
}

const shaded = (color: string, light: number): string => color.replace(/\d+/g, (value) => `${Math.round(Number(value) * light)}`);

/** Rules of the style sheet do not travel with a saved figure: marks get them as attributes. */
function dress(mark: SVGGElement): SVGGElement {
  const chosen = mark.classList.contains("chosen");
  const color = cssValue(chosen ? "--accent" : "--text");
  for (const shape of mark.querySelectorAll("circle, line")) {
    const halo = shape.classList.contains("halo");
    shape.setAttribute("fill", "none");
    shape.setAttribute("stroke", halo ? cssValue("--panel") : color);
    shape.setAttribute("stroke-width", halo ? "4" : "1.8");
  }
  for (const label of mark.querySelectorAll("text")) {
    for (const [key, value] of Object.entries({
      "font-family": FONT,
      "font-size": "12",
      fill: cssValue("--text"),
      stroke: cssValue("--panel"),
      "stroke-width": "3",
      "paint-order": "stroke",
    }))
      label.setAttribute(key, value);
  }
  return mark;
}

function panelGroup(parts: FigureParts, panel: Panel, vector: boolean): SVGGElement {
  const { data, state, stage } = parts;
  const lens = stage.lens(panel);
  const clip = `clip-${panel.view}-${panel.which}`;
  const box = { width: panel.width, height: panel.height };
  const group = svg("g", { transform: `translate(${panel.x} ${panel.y})` }, svg("clipPath", { id: clip }, svg("rect", { ...box, rx: 6 })));
  const inside = svg("g", { "clip-path": `url(#${clip})` });
  if (vector) inside.append(svg("rect", { ...box, fill: cssValue("--panel") }), ...new PanelShapes(parts, panel, lens).shapes());
  inside.append(...marksOf(data, state, panel, lens, null).map(dress));
  const name = data.views[panel.view].name;
  group.append(inside, text(12, 22, `${shorten(name, 40)} · ${panel.which}`, { "font-weight": 600 }));
  return group;
}

function foot({ data, state, stage, sourceText }: FigureParts, width: number, y: number): SVGGElement {
  const { scale } = stage;
  const bar = 200;
  const stops = Array.from({ length: 17 }, (_, k) => svg("stop", { offset: `${(100 * k) / 16}%`, "stop-color": stage.colorOf(k / 16) }));
  const group = svg("g", { transform: `translate(0 ${y})` }, svg("linearGradient", { id: "bar" }, ...stops));
  group.append(text(2, 24, `Heat of ${shorten(sourceText, 80)} at time ${formatNumber(data.stops[state.stop], 3)}`));
  group.append(svg("rect", { x: width - bar - 2, y: 10, width: bar, height: 10, rx: 2, fill: "url(#bar)" }));
  [0, 0.5, 1].forEach((part, k) =>
    group.append(
      text(width - bar - 2 + part * bar, 34, formatNumber(valueAt(part, scale), 2), {
        "font-size": 11,
        "text-anchor": ["start", "middle", "end"][k],
      }),
    ),
  );
  return group;
}

/** The figure; `vector` false puts the canvas's picture in place of lines and circles. */
function makeFigure(parts: FigureParts, vector: boolean): SVGSVGElement {
  const { stage } = parts;
  const { clientWidth: width, clientHeight: height } = stage.element;
  const figure = svg("svg", { width, height: height + FOOT, viewBox: `0 0 ${width} ${height + FOOT}` });
  figure.append(svg("rect", { width, height: height + FOOT, fill: cssValue("--page") }));
  if (!vector) {
    stage.draw(); // in the same task as reading the canvas, which is emptied after it
    figure.append(svg("image", { href: stage.renderer.canvas.toDataURL("image/png"), width, height }));
  }
  for (const { panel } of stage.frames) figure.append(panelGroup(parts, panel, vector));
  figure.append(foot(parts, width, height));
  return figure;
}

function svgBlob(figure: SVGSVGElement): Blob {
  figure.setAttribute("xmlns", SVG);
  return new Blob([new XMLSerializer().serializeToString(figure)], { type: "image/svg+xml" });
}

async function pngBlob(figure: SVGSVGElement, ratio: number): Promise<Blob> {
  const picture = new Image();
  const url = URL.createObjectURL(svgBlob(figure));
  picture.src = url;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(Number(figure.getAttribute("width")) * ratio);
  canvas.height = Math.round(Number(figure.getAttribute("height")) * ratio);
  canvas.getContext("2d")!.drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))), "image/png"),
  );
}

/** Milliseconds that saving waits for edges that are still being drawn. */
const PATIENCE = 4000;

export async function savePng(parts: FigureParts): Promise<void> {
  await parts.stage.settled(PATIENCE);
  download(await pngBlob(makeFigure(parts, false), Math.max(1, devicePixelRatio)), "cotherm.png");
}

/** Whether the figure has lines and circles; else it has a picture of them. */
export async function saveSvg(parts: FigureParts): Promise<boolean> {
  const vector = shapeCount(parts) <= MOST_SHAPES;
  if (!vector) await parts.stage.settled(PATIENCE);
  download(svgBlob(makeFigure(parts, vector)), "cotherm.svg");
  return vector;
}
