/**
 * Pictures of the edges, drawn once for a camera and kept: heat changes in every frame, edges do not.
 *
 * There are two: one under the vertices, with the background, and one over them for changed edges where there are so many
 * vertices that they would hide them. After a camera has moved, a fair sample is drawn at once. The whole is then drawn into
 * a second picture, a portion a frame, which takes the place of the sample when it is complete. So a frame costs about the
 * same with ten edges or a million.
 */
import * as twgl from "twgl.js";
import { KIND_STYLES, kindColor, toUnit } from "../color/kinds.ts";
import type { Edges } from "../model/state.ts";
import type { Panel } from "./arrange.ts";
import type { GraphBuffers, Programs, ViewBuffers } from "./buffers.ts";
import { keyOf, type Color, type PanelDrawing, type Place } from "./drawing.ts";
import type { Lens } from "./lens.ts";

export type Layer = "under" | "over";
/** Changed edges first: they are fewer, and matter more. */
const LAYERS: readonly Layer[] = ["over", "under"];
/** With more vertices than these, changed edges would be hidden below them. */
export const FEW_VERTICES = 10_000;

/** How far the picture of a panel's edges has come. */
interface Task {
  first: number;
  drawn: number;
  total: number;
  finished: boolean;
}

interface Pictures {
  front: twgl.FramebufferInfo;
  back: twgl.FramebufferInfo;
}

/** Edges drawn in one frame: adapted to the machine between these. */
const LEAST_PORTION = 2_000;
const FIRST_PORTION = 12_000;
const MOST_PORTION = 1_000_000;
/** Milliseconds of a frame that are too many, and so few that more could be drawn: while things move, and while nothing does. */
const LIMITS = { moving: { slow: 45, fast: 22 }, resting: { slow: 200, fast: 120 } };

export class EdgePictures {
  private readonly tasks = new Map<string, Task>();
  private pictures: Record<Layer, Pictures> | null = null;
  private readonly portion = { moving: FIRST_PORTION, resting: FIRST_PORTION };
  private lastDrawn = 0;
  private edges: Edges = "all";
  private dark = false;
  private background: Color = [1, 1, 1];
  private ratio = 1;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly programs: Programs,
    private readonly views: readonly ViewBuffers[],
    private readonly place: Place,
  ) {}

  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    if (this.pictures) for (const layer of LAYERS) for (const old of Object.values(this.pictures[layer])) this.free(old);
    const make = (): twgl.FramebufferInfo => {
      const color = { format: this.gl.RGBA, minMag: this.gl.NEAREST, wrap: this.gl.CLAMP_TO_EDGE };
      return twgl.createFramebufferInfo(this.gl, this.solid ? [color, { format: this.gl.DEPTH_COMPONENT16 }] : [color], width, height);
    };
    this.pictures = { under: { front: make(), back: make() }, over: { front: make(), back: make() } };
    this.forget();
  }

  private free({ framebuffer, attachments: [color, depth] }: twgl.FramebufferInfo): void {
    this.gl.deleteFramebuffer(framebuffer);
    this.gl.deleteTexture(color);
    if (depth) this.gl.deleteRenderbuffer(depth);
  }

  /** Surfaces hide edges behind them; without any, depth would only be cleared in vain. */
  private get solid(): boolean {
    return this.views.some(({ view }) => view.faces !== null);
  }

  setLook(edges: Edges, dark: boolean, background: Color): void {
    if (edges === this.edges && dark === this.dark && `${background}` === `${this.background}`) return;
    this.edges = edges;
    this.background = background;
    this.dark = dark;
    this.forget();
  }

  /** Edges of all panels, or of one view's, are drawn anew. */
  forget(view?: number): void {
    for (const key of [...this.tasks.keys()]) if (view === undefined || key.startsWith(`${view}:`)) this.tasks.delete(key);
  }

  /** Background and edges below the vertices. */
  get under(): WebGLTexture {
    return this.pictures!.under.front.attachments[0];
  }

  /** Edges above the vertices, on nothing. */
  get over(): WebGLTexture {
    return this.pictures!.over.front.attachments[0];
  }

  hasOver(panel: Panel): boolean {
    return (this.tasks.get(`${keyOf(panel)}:over`)?.total ?? 0) > 0;
  }

  /** Draws some of the edges that are missing; true if there are more. `passed` is how long the last frame took. */
  draw(panels: readonly PanelDrawing[], passed: number, resting: boolean): boolean {
    const pace = resting ? "resting" : "moving";
    this.adapt(passed, pace);
    const sample = Math.floor(this.portion.moving / (2 * panels.length));
    let left = Math.floor(this.portion[pace]);
    for (const layer of LAYERS)
      for (const drawing of panels) {
        const key = `${keyOf(drawing.panel)}:${layer}`;
        const task = this.tasks.get(key);
        if (!task) this.tasks.set(key, this.start(drawing, layer, sample));
        else if (!task.finished && left > 0) left -= this.goOn(drawing, layer, task, left);
      }
    return [...this.tasks.values()].some(({ finished }) => !finished);
  }

  /** Frames that drew many edges tell how many a frame can bear; others say nothing. */
  private adapt(passed: number, pace: keyof typeof LIMITS): void {
    const { slow, fast } = LIMITS[pace];
    const portion = this.portion[pace];
    if (passed > slow && this.lastDrawn > 0)
      this.portion[pace] = Math.max(LEAST_PORTION, Math.min(portion, (this.lastDrawn * fast) / passed));
    else if (passed < fast && this.lastDrawn > portion / 3) this.portion[pace] = Math.min(MOST_PORTION, portion * 1.5);
    this.lastDrawn = 0;
  }

  /** Edges of a layer in drawing order: where they begin, and how many. Surfaces hide those that are as before. */
  private range({ view, unchanged }: ViewBuffers, layer: Layer): [number, number] {
    const { n, m, faces } = view;
    if (this.edges === "none") return [0, 0];
    const over = n > FEW_VERTICES || faces !== null ? unchanged : m;
    if (layer === "over") return [over, m - over];
    const first = this.edges === "changed" || faces ? unchanged : 0;
    return [first, Math.max(0, over - first)];
  }

  private start(drawing: PanelDrawing, layer: Layer, sample: number): Task {
    const buffers = this.views[drawing.panel.view];
    const [first, total] = this.range(buffers, layer);
    const asBefore = Math.min(total, Math.max(0, buffers.unchanged - first));
    const changed = total - asBefore;
    this.target(layer, "front", drawing, true);
    this.drawRange(drawing, first, Math.min(asBefore, sample), total);
    this.drawRange(drawing, first + asBefore, Math.min(changed, sample), total);
    return { first, drawn: 0, total, finished: asBefore <= sample && changed <= sample };
  }

  private goOn(drawing: PanelDrawing, layer: Layer, task: Task, most: number): number {
    const count = Math.min(most, task.total - task.drawn);
    this.target(layer, "back", drawing, task.drawn === 0);
    this.drawRange(drawing, task.first + task.drawn, count, task.total);
    task.drawn += count;
    task.finished = task.drawn === task.total;
    if (task.finished) this.show(drawing.panel, this.pictures![layer]);
    return count;
  }

  private target(layer: Layer, side: "front" | "back", drawing: PanelDrawing, fresh: boolean): void {
    const { gl } = this;
    const { framebuffer } = this.pictures![layer][side];
    const place = this.place(drawing.panel);
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.viewport(...place);
    gl.scissor(...place);
    gl.enable(gl.SCISSOR_TEST);
    gl.depthMask(true);
    if (!fresh) return;
    if (layer === "under") gl.clearColor(...this.background, 1);
    else gl.clearColor(0, 0, 0, 0);
    gl.clear(this.solid ? gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT : gl.COLOR_BUFFER_BIT);
    this.drawDepth(drawing);
  }

  /** A surface hides the edges behind it. */
  private drawDepth({ panel, lens }: PanelDrawing): void {
    const { gl } = this;
    const { depth } = this.views[panel.view].graphs[panel.which];
    if (!depth) return;
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.colorMask(false, false, false, false);
    gl.useProgram(this.programs.depth.program);
    twgl.setBuffersAndAttributes(gl, this.programs.depth, depth);
    twgl.setUniforms(this.programs.depth, { matrix: lens.matrix });
    twgl.drawBufferInfo(gl, depth, gl.TRIANGLES);
    gl.colorMask(true, true, true, true);
  }

  private drawRange(drawing: PanelDrawing, first: number, count: number, total: number): void {
    if (count <= 0) return;
    const buffers = this.views[drawing.panel.view];
    const asLines = buffers.graphs[drawing.panel.which].lines ? Math.max(0, Math.min(count, buffers.unchanged - first)) : 0;
    this.lastDrawn += count;
    this.blend(drawing);
    if (asLines > 0) this.drawLines(drawing, first, asLines);
    if (count > asLines) this.drawRectangles(drawing, first + asLines, count - asLines, total);
  }

  private blend({ panel }: PanelDrawing): void {
    const { gl } = this;
    if (this.views[panel.view].view.faces) gl.enable(gl.DEPTH_TEST);
    else gl.disable(gl.DEPTH_TEST);
    gl.depthMask(false);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  private drawLines({ panel, lens }: PanelDrawing, first: number, count: number): void {
    const { gl } = this;
    const { lines } = this.programs;
    const { view, graphs, lengths } = this.views[panel.view];
    gl.useProgram(lines.program);
    twgl.setBuffersAndAttributes(gl, lines, graphs[panel.which].lines!);
    const { alpha } = edgeStyle(view.m, view.m, lengths.mean, lens.scale, panel);
    twgl.setUniforms(lines, { matrix: lens.matrix, color: toUnit(kindColor(0, this.dark)), alpha, fade: view.dimensions === 3 ? 0.7 : 0 });
    gl.drawArrays(gl.LINES, 2 * first, 2 * count);
  }

  private drawRectangles({ panel, lens }: PanelDrawing, first: number, count: number, total: number): void {
    const { gl } = this;
    const { edges } = this.programs;
    const buffers = this.views[panel.view];
    const graph = buffers.graphs[panel.which];
    gl.useProgram(edges.program);
    twgl.setBuffersAndAttributes(gl, edges, graph.edges);
    this.beginAt(buffers, graph, first);
    twgl.setUniforms(edges, this.uniforms(panel, lens, buffers, total));
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    gl.bindVertexArray(null);
  }

  /** WebGL 2 cannot begin at an instance, so the attributes are made to begin there. */
  private beginAt({ ends: [start, end] }: ViewBuffers, { styles }: GraphBuffers, first: number): void {
    const { gl } = this;
    const at = (name: string, { buffer, numComponents, type, normalize, stride, offset }: twgl.AttribInfo, bytes: number): void => {
      const location = gl.getAttribLocation(this.programs.edges.program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer!);
      gl.vertexAttribPointer(location, numComponents!, type!, normalize ?? false, stride ?? 0, (offset ?? 0) + first * bytes);
    };
    at("start", start, 24);
    at("end", end, 24);
    at("style", styles, 4);
  }

  private uniforms(panel: Panel, lens: Lens, { view, lengths }: ViewBuffers, total: number): Record<string, unknown> {
    return {
      matrix: lens.matrix,
      size: [panel.width * this.ratio, panel.height * this.ratio],
      pixel: this.ratio,
      bias: view.faces ? 0.002 : 0,
      colors: KIND_STYLES.flatMap((_, kind) => toUnit(kindColor(kind, this.dark))),
      widths: KIND_STYLES.map(({ width }) => width),
      ...edgeStyle(view.m, total, lengths.mean, lens.scale, panel),
      fade: view.dimensions === 3 ? 0.7 : 0,
      dashes: panel.which === "after" ? 1 : 0,
    };
  }

  /** The back picture of a panel is complete: it becomes the front one. */
  private show(panel: Panel, { front, back }: Pictures): void {
    const { gl } = this;
    const [x, y, width, height] = this.place(panel);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, back.framebuffer);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, front.framebuffer);
    gl.blitFramebuffer(x, y, x + width, y + height, x, y, x + width, y + height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
  }
}

export interface EdgeStyle {
  /** Opacity of an edge as before with a heavy weight. */
  alpha: number;
  /** Pixels that a heavy edge is wider than a light one. */
  strengthWidth: number;
  /** Of widths and opacity of changed edges: less where there are many, since heat is to be seen. */
  emphasis: number;
}

/** Fainter and thinner where lines would cover the panel many times over. `length`: the mean of an edge; `scale`: pixels a unit. */
export function edgeStyle(
  edges: number,
  drawn: number,
  length: number,
  scale: number,
  { width, height }: { width: number; height: number },
): EdgeStyle {
  // Of a view that is larger than its panel only a part is in it: what counts is how dense lines are where they are.
  const area = Math.max(width * height, (2 * scale) ** 2);
  const cover = (count: number): number => Math.max((count * length * scale) / area, 1e-9);
  return {
    alpha: Math.min(0.75, Math.max(0.035, 0.4 / cover(edges))),
    strengthWidth: edges < 20_000 || cover(edges) < 1 ? 1.2 : 0.4,
    emphasis: Math.min(1, Math.max(0.06, 0.3 / cover(drawn))),
  };
}
