// Marks over a panel: where heat starts, what is pointed at, its partners, and the chosen edge. As SVG, on the screen and in saved figures.
import { kindColor, KIND_STYLES } from "../color/kinds.ts";
import { nameOf, type Data, type View } from "../model/data.ts";
import { startsIn } from "../model/source.ts";
import type { EdgeChoice, State } from "../model/state.ts";
import type { Panel } from "../scene/arrange.ts";
import { FEW_VERTICES } from "../scene/edge-pictures.ts";
import { isSeen } from "../scene/edges.ts";
import type { Lens } from "../scene/lens.ts";
import { svg } from "./dom.ts";
import { shorten } from "./format.ts";
import { cssValue, isDark } from "./theme.ts";

export interface Pointed {
  view: number;
  vertex: number | null;
  edge: number | null;
}

/** Marks of one source; more than these would hide the picture. */
const MOST_MARKS = 30;
const FEW_CHANGES = 40;

const where = (data: Data, lens: Lens, view: number, vertex: number): readonly [number, number, number] => {
  const { position } = data.views[view];
  return lens.project(position[3 * vertex], position[3 * vertex + 1], position[3 * vertex + 2]);
};

function ring(data: Data, lens: Lens, view: number, vertex: number, name: string, radius: number, text: boolean): SVGGElement {
  const [x, y] = where(data, lens, view, vertex);
  const group = svg(
    "g",
    { class: `mark ${name}` },
    svg("circle", { class: "halo", cx: x, cy: y, r: radius }),
    svg("circle", { cx: x, cy: y, r: radius }),
  );
  if (text) {
    const label = shorten(nameOf(data.views[view], vertex), 28);
    const left = x > lens.size.width - 7 * label.length - 20;
    group.append(svg("text", { x: x + (left ? -radius - 5 : radius + 5), y: y + 4, "text-anchor": left ? "end" : "start" }, label));
  }
  return group;
}

function edgeMark(data: Data, lens: Lens, { view, edge }: EdgeChoice, name: string): SVGGElement {
  const { i, j } = data.views[view];
  const [a, b] = [where(data, lens, view, i[edge]), where(data, lens, view, j[edge])];
  const line = { x1: a[0], y1: a[1], x2: b[0], y2: b[1] };
  const ends = name === "chosen" ? [i[edge], j[edge]].map((vertex) => ring(data, lens, view, vertex, name, 5, true)) : [];
  return svg("g", { class: `mark ${name}` }, svg("line", { class: "halo", ...line }), svg("line", line), ...ends);
}

/** A few changed edges are the point of the picture: they are drawn again over the vertices, and a cut has a cross. */
function surgery(data: Data, state: State, panel: Panel, lens: Lens): SVGGElement[] {
  const view = data.views[panel.view];
  const changed = view.faces || view.n > FEW_VERTICES || state.edges === "none" ? [] : changedEdges(view);
  return changed
    .filter((edge) => isSeen(view, panel.which, edge))
    .map((edge) => {
      const kind = view.kind[edge];
      const gone = kind === 1 && panel.which === "after";
      const [a, b] = [where(data, lens, panel.view, view.i[edge]), where(data, lens, panel.view, view.j[edge])];
      const [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
      const { width, dash } = KIND_STYLES[kind];
      const stroke = { stroke: kindColor(kind, isDark(state.theme)), "stroke-width": 1.2 * width, "stroke-linecap": "round" };
      const line = svg("line", {
        x1: a[0],
        y1: a[1],
        x2: b[0],
        y2: b[1],
        ...stroke,
        "stroke-dasharray": (kind === 1 && !gone) || dash === "" ? null : dash,
      });
      if (!gone) return svg("g", {}, line);
      const cross = `M${x - 4} ${y - 4}L${x + 4} ${y + 4}M${x - 4} ${y + 4}L${x + 4} ${y - 4}`;
      return svg(
        "g",
        {},
        line,
        svg("path", { d: cross, stroke: cssValue("--panel"), "stroke-width": 6, "stroke-linecap": "round" }),
        svg("path", { d: cross, ...stroke, "stroke-width": 2.2 }),
      );
    });
}

const changedLists = new WeakMap<View, number[]>();

/** All changed edges where they are few, else none. */
function changedEdges(view: View): number[] {
  const known = changedLists.get(view);
  if (known) return known;
  const found: number[] = [];
  for (let edge = 0; edge < view.m && found.length <= FEW_CHANGES; edge++) if (view.kind[edge] !== 0) found.push(edge);
  const few = found.length <= FEW_CHANGES ? found : [];
  changedLists.set(view, few);
  return few;
}

export function marksOf(data: Data, state: State, panel: Panel, lens: Lens, pointed: Pointed | null): SVGGElement[] {
  const marks: SVGGElement[] = surgery(data, state, panel, lens);
  if (state.edge?.view === panel.view) marks.push(edgeMark(data, lens, state.edge, "chosen"));
  for (const vertex of startsIn(data, state.source, panel.view).slice(0, MOST_MARKS))
    marks.push(ring(data, lens, panel.view, vertex, "source", 8, true));
  if (pointed?.edge !== null && pointed?.view === panel.view)
    marks.push(edgeMark(data, lens, { view: panel.view, edge: pointed.edge }, "pointed"));
  if (pointed && pointed.vertex !== null) {
    const same = pointed.view === panel.view;
    const vertices = same ? [pointed.vertex] : data.partners.of(pointed.view, pointed.vertex, panel.view).slice(0, MOST_MARKS);
    for (const vertex of vertices) marks.push(ring(data, lens, panel.view, vertex, same ? "pointed" : "partner", same ? 7 : 9, !same));
  }
  return marks;
}
