/**
 * All panels on one WebGL canvas.
 *
 * Heat changes in every frame, edges do not: edges are drawn once for a camera into a picture of their own, a part in every
 * frame until all are there, and every frame then draws the vertices or the surface and lays that picture below or above.
 * While a camera moves, a fair sample of the edges is drawn instead. So a frame costs the same with ten edges or a million.
 */
import * as twgl from "twgl.js";
import type { Scale } from "../color/scale.ts";
import { KIND_STYLES, kindColor, toUnit } from "../color/kinds.ts";
import type { Table } from "../color/maps.ts";
import type { Which } from "../format/header.ts";
import type { View } from "../model/data.ts";
import type { Edges } from "../model/state.ts";
import type { Panel } from "./arrange.ts";
import { drawingOrder, endsOf, heavyWeight, meanLength, stylesOf } from "./edges.ts";
import type { Lens } from "./lens.ts";
import * as glsl from "./shaders.ts";
import { vertexNormals } from "./surface.ts";

export interface Look {
  dark: boolean;
  page: [number, number, number];
  background: [number, number, number];
  table: Table;
  edges: Edges;
}

export interface PanelDrawing {
  panel: Panel;
  lens: Lens;
  silent: boolean;
}

export interface Moment {
  /** Between the two frames of heat that are loaded. */
  part: number;
  scale: Scale;
}

interface GraphBuffers {
  heat: [WebGLBuffer, WebGLBuffer];
  points: twgl.VertexArrayInfo;
  surface: twgl.VertexArrayInfo | null;
  depth: twgl.VertexArrayInfo | null;
  edges: twgl.VertexArrayInfo;
  styles: twgl.AttribInfo;
}

interface ViewBuffers {
  view: View;
  unchanged: number;
  meanLength: number;
  ends: twgl.AttribInfo[];
  graphs: Record<Which, GraphBuffers>;
}

/** How far the picture of a panel's edges has come. */
interface EdgeTask {
  drawn: number;
  total: number;
  finished: boolean;
}

/** Edges drawn in one frame: adapted to the machine between these. */
const LEAST_PORTION = 2_000;
const FIRST_PORTION = 12_000;
const MOST_PORTION = 1_000_000;
const SLOW_FRAME = 45;
const FAST_FRAME = 22;

const STRETCH = { linear: 0, root: 1, log: 2 } as const;

export const keyOf = ({ view, which }: { view: number; which: Which }): string => `${view}:${which}`;

/** Smoothing by the graphics card is only worth it where there is one. */
function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? String(gl?.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Renderer {
  readonly software = isSoftware();
  private readonly gl: WebGL2RenderingContext;
  private readonly programs: Record<"points" | "surface" | "edges" | "depth" | "picture", twgl.ProgramInfo>;
  private readonly views: ViewBuffers[];
  private readonly quad: twgl.BufferInfo;
  private readonly quadArray: twgl.VertexArrayInfo;
  private readonly map: WebGLTexture;
  private pictures: { front: twgl.FramebufferInfo; back: twgl.FramebufferInfo } | null = null;
  private tasks = new Map<string, EdgeTask>();
  private portion = FIRST_PORTION;
  private look: Look | null = null;
  private ratio = 1;

  constructor(
    readonly canvas: HTMLCanvasElement,
    views: readonly View[],
  ) {
    const gl = canvas.getContext("webgl2", { antialias: !this.software, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("This page draws with WebGL 2, and this browser does not offer it. Turn on hardware acceleration, or try another browser.");
    this.gl = gl;
    const program = (vertex: string, fragment: string): twgl.ProgramInfo => twgl.createProgramInfo(gl, [vertex, fragment]);
    this.programs = {
      points: program(glsl.POINTS_VERTEX, glsl.POINTS_FRAGMENT),
      surface: program(glsl.SURFACE_VERTEX, glsl.SURFACE_FRAGMENT),
      edges: program(glsl.EDGES_VERTEX, glsl.EDGES_FRAGMENT),
      depth: program(glsl.DEPTH_VERTEX, glsl.DEPTH_FRAGMENT),
      picture: program(glsl.PICTURE_VERTEX, glsl.PICTURE_FRAGMENT),
    };
    this.quad = twgl.createBufferInfoFromArrays(gl, { corner: { numComponents: 2, data: [0, -1, 1, -1, 0, 1, 1, 1] } });
    this.quadArray = twgl.createVertexArrayInfo(gl, this.programs.picture, this.quad);
    this.map = twgl.createTexture(gl, { width: 256, height: 1, minMag: gl.NEAREST, wrap: gl.CLAMP_TO_EDGE });
    this.views = views.map((view) => this.makeView(view));
  }

  // ---- buffers

  private buffer(data: Float32Array | Uint8Array, usage: number = this.gl.STATIC_DRAW): WebGLBuffer {
    return twgl.createBufferFromTypedArray(this.gl, data, this.gl.ARRAY_BUFFER, usage) as WebGLBuffer;
  }

  private makeView(view: View): ViewBuffers {
    const { gl } = this;
    const { order, unchanged } = drawingOrder(view);
    const heavy = heavyWeight(view);
    const position: twgl.AttribInfo = { buffer: this.buffer(view.position), numComponents: 3, type: gl.FLOAT };
    const normal = view.faces ? { buffer: this.buffer(vertexNormals(view.position, view.faces)), numComponents: 3, type: gl.FLOAT } : null;
    const indices = view.faces ? (twgl.createBufferFromTypedArray(gl, view.faces, gl.ELEMENT_ARRAY_BUFFER) as WebGLBuffer) : null;
    const endsBuffer = this.buffer(endsOf(view, order));
    const end = (offset: number): twgl.AttribInfo => ({ buffer: endsBuffer, numComponents: 3, type: gl.FLOAT, stride: 24, offset, divisor: 1 });
    const ends = [end(0), end(12)];
    const graph = (which: Which): GraphBuffers => this.makeGraph(view, stylesOf(view, which, order, heavy), position, normal, indices, ends);
    return { view, unchanged, meanLength: meanLength(view), ends, graphs: { before: graph("before"), after: graph("after") } };
  }

  private makeGraph(view: View, styleBytes: Uint8Array, position: twgl.AttribInfo, normal: twgl.AttribInfo | null, indices: WebGLBuffer | null, ends: twgl.AttribInfo[]): GraphBuffers {
    const { gl, programs } = this;
    const heat: [WebGLBuffer, WebGLBuffer] = [this.emptyHeat(view.n), this.emptyHeat(view.n)];
    const [heatA, heatB] = heat.map((buffer): twgl.AttribInfo => ({ buffer, numComponents: 1, type: gl.FLOAT }));
    const styles: twgl.AttribInfo = { buffer: this.buffer(styleBytes), numComponents: 4, type: gl.UNSIGNED_BYTE, normalize: true, divisor: 1 };
    const array = (program: twgl.ProgramInfo, attribs: Record<string, twgl.AttribInfo>, numElements: number, faces: WebGLBuffer | null): twgl.VertexArrayInfo =>
      twgl.createVertexArrayInfo(gl, program, { attribs, numElements, ...(faces ? { indices: faces, elementType: gl.UNSIGNED_INT } : {}) });
    const faceCount = view.faces?.length ?? 0;
    return {
      heat,
      styles,
      points: array(programs.points, { position, heatA, heatB }, view.n, null),
      surface: normal && array(programs.surface, { position, normal, heatA, heatB }, faceCount, indices),
      depth: normal && array(programs.depth, { position }, faceCount, indices),
      edges: array(programs.edges, { ...this.quad.attribs!, start: ends[0], end: ends[1], style: styles }, 4, null),
    };
  }

  private emptyHeat(n: number): WebGLBuffer {
    return this.buffer(new Float32Array(n), this.gl.DYNAMIC_DRAW);
  }

  /** Loads heat of a graph: slot 0 and 1 are the frames between which it moves. */
  setHeat(view: number, which: Which, slot: 0 | 1, heat: Float32Array | Float64Array): void {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.views[view].graphs[which].heat[slot]);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, heat instanceof Float32Array ? heat : Float32Array.from(heat));
  }

  // ---- what changes seldom

  resize(width: number, height: number, ratio: number): void {
    const { gl, canvas } = this;
    this.ratio = ratio;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    if (this.pictures)
      for (const old of Object.values(this.pictures)) {
        gl.deleteFramebuffer(old.framebuffer);
        gl.deleteTexture(old.attachments[0]);
        gl.deleteRenderbuffer(old.attachments[1]);
      }
    const make = (): twgl.FramebufferInfo =>
      twgl.createFramebufferInfo(gl, [{ format: gl.RGBA, minMag: gl.NEAREST, wrap: gl.CLAMP_TO_EDGE }, { format: gl.DEPTH_COMPONENT16 }], canvas.width, canvas.height);
    this.pictures = { front: make(), back: make() };
    this.forgetEdges();
  }

  setLook(look: Look): void {
    const { gl } = this;
    const old = this.look;
    this.look = look;
    twgl.setTextureFromArray(gl, this.map, look.table, { width: 256, height: 1, minMag: gl.NEAREST, wrap: gl.CLAMP_TO_EDGE });
    if (!old || old.dark !== look.dark || old.edges !== look.edges) this.forgetEdges();
  }

  /** Edges of all panels, or of one view's, are drawn anew. */
  forgetEdges(view?: number): void {
    for (const key of [...this.tasks.keys()]) if (view === undefined || key.startsWith(`${view}:`)) this.tasks.delete(key);
  }

  // ---- frames

  /** Draws a frame. True if edges are still missing, and another frame should follow. */
  draw(panels: readonly PanelDrawing[], moment: Moment, lastFrame: number): boolean {
    this.adapt(lastFrame);
    const missing = this.drawEdges(panels);
    const { gl, look } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(...look!.page, 1);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const drawing of panels) this.drawPanel(drawing, moment);
    return missing;
  }

  private adapt(lastFrame: number): void {
    if (lastFrame > SLOW_FRAME) this.portion = Math.max(LEAST_PORTION, this.portion / 2);
    else if (lastFrame < FAST_FRAME) this.portion = Math.min(MOST_PORTION, this.portion * 1.5);
  }

  private place({ x, y, width, height }: Panel): [number, number, number, number] {
    const r = this.ratio;
    return [Math.round(x * r), Math.round(this.canvas.height - (y + height) * r), Math.round(width * r), Math.round(height * r)];
  }

  private enter(panel: Panel): void {
    const { gl } = this;
    const place = this.place(panel);
    gl.viewport(...place);
    gl.scissor(...place);
    gl.enable(gl.SCISSOR_TEST);
  }

  private drawPanel(drawing: PanelDrawing, moment: Moment): void {
    const { gl } = this;
    this.enter(drawing.panel);
    gl.clearColor(...this.look!.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const solid = this.views[drawing.panel.view].graphs[drawing.panel.which].surface !== null;
    if (solid) this.drawSurface(drawing, moment);
    this.drawPicture(drawing.panel);
    if (!solid) this.drawPoints(drawing, moment);
  }

  private heatUniforms({ silent }: PanelDrawing, { scale, part }: Moment): Record<string, unknown> {
    return { part, silent: silent ? 1 : 0, scale: [scale.low, scale.high, STRETCH[scale.stretch]], map: this.map, background: this.look!.background };
  }

  private drawPoints(drawing: PanelDrawing, moment: Moment): void {
    const { gl } = this;
    const { view, graphs } = this.views[drawing.panel.view];
    const { points } = graphs[drawing.panel.which];
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
    gl.useProgram(this.programs.points.program);
    twgl.setBuffersAndAttributes(gl, this.programs.points, points);
    const size = pointSize(view.n, drawing.panel, drawing.lens.camera.zoom) * this.ratio;
    twgl.setUniforms(this.programs.points, { ...this.heatUniforms(drawing, moment), matrix: drawing.lens.matrix, size, flatView: view.dimensions === 2 ? 1 : 0 });
    gl.drawArrays(gl.POINTS, 0, view.n);
  }

  private drawSurface(drawing: PanelDrawing, moment: Moment): void {
    const { gl } = this;
    const surface = this.views[drawing.panel.view].graphs[drawing.panel.which].surface!;
    const { right, up, back, matrix } = drawing.lens;
    const turn = [0, 1, 2].flatMap((k) => [right[k], up[k], back[k]]);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
    gl.useProgram(this.programs.surface.program);
    twgl.setBuffersAndAttributes(gl, this.programs.surface, surface);
    twgl.setUniforms(this.programs.surface, { ...this.heatUniforms(drawing, moment), matrix, turn });
    twgl.drawBufferInfo(gl, surface, gl.TRIANGLES);
  }

  private drawPicture(panel: Panel): void {
    const { gl, canvas } = this;
    const [x, y, width, height] = this.place(panel);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.programs.picture.program);
    twgl.setBuffersAndAttributes(gl, this.programs.picture, this.quadArray);
    const part = [x / canvas.width, y / canvas.height, width / canvas.width, height / canvas.height];
    twgl.setUniforms(this.programs.picture, { picture: this.pictures!.front.attachments[0], part });
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  // ---- edges

  /** Draws some of the edges that are missing; true if there are more. */
  private drawEdges(panels: readonly PanelDrawing[]): boolean {
    let left = Math.floor(this.portion);
    for (const drawing of panels) if (!this.tasks.has(keyOf(drawing.panel))) this.startEdges(drawing, Math.floor(this.portion / panels.length));
    for (const drawing of panels) {
      const task = this.tasks.get(keyOf(drawing.panel))!;
      if (task.finished) continue;
      if (left <= 0) return true;
      left -= this.continueEdges(drawing, task, left);
    }
    return panels.some(({ panel }) => !this.tasks.get(keyOf(panel))!.finished);
  }

  /** The edges to draw, in drawing order; surfaces hide those that are as before. */
  private edgeRange(view: ViewBuffers): [number, number] {
    const { m, faces } = view.view;
    if (this.look!.edges === "none") return [0, 0];
    return [this.look!.edges === "changed" || faces ? view.unchanged : 0, m];
  }

  /** At once: a sample of the edges, if not all. */
  private startEdges(drawing: PanelDrawing, portion: number): void {
    const view = this.views[drawing.panel.view];
    const [first, last] = this.edgeRange(view);
    const sample = Math.max(LEAST_PORTION / 2, portion);
    const unchanged = Math.max(0, view.unchanged - first);
    const changed = last - Math.max(first, view.unchanged);
    const total = last - first;
    this.target("front", drawing);
    this.drawRange(drawing, first, Math.min(unchanged, Math.ceil(sample / 2)), total);
    this.drawRange(drawing, Math.max(first, view.unchanged), Math.min(changed, Math.ceil(sample / 2)), total);
    const finished = unchanged <= sample / 2 && changed <= sample / 2;
    this.tasks.set(keyOf(drawing.panel), { drawn: 0, total, finished });
  }

  private continueEdges(drawing: PanelDrawing, task: EdgeTask, most: number): number {
    const [first] = this.edgeRange(this.views[drawing.panel.view]);
    const count = Math.min(most, task.total - task.drawn);
    this.target("back", drawing, task.drawn === 0);
    this.drawRange(drawing, first + task.drawn, count, task.total);
    task.drawn += count;
    if (task.drawn >= task.total) {
      this.show(drawing.panel);
      task.finished = true;
    }
    return count;
  }

  private target(which: "front" | "back", drawing: PanelDrawing, fresh = true): void {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pictures![which].framebuffer);
    this.enter(drawing.panel);
    gl.depthMask(true);
    if (!fresh) return;
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
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

  private drawRange({ panel, lens }: PanelDrawing, first: number, count: number, total: number): void {
    if (count <= 0) return;
    const { gl } = this;
    const buffers = this.views[panel.view];
    const graph = buffers.graphs[panel.which];
    const solid = graph.surface !== null;
    if (solid) gl.enable(gl.DEPTH_TEST);
    else gl.disable(gl.DEPTH_TEST);
    gl.depthMask(false);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.programs.edges.program);
    twgl.setBuffersAndAttributes(gl, this.programs.edges, graph.edges);
    this.pointAt(buffers, graph, first);
    twgl.setUniforms(this.programs.edges, { ...this.edgeUniforms(panel, lens, buffers, total), matrix: lens.matrix, bias: solid ? 0.002 : 0 });
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    gl.bindVertexArray(null);
  }

  /** WebGL 2 has no first instance to draw, so the attributes begin there. */
  private pointAt({ ends }: ViewBuffers, { styles }: GraphBuffers, first: number): void {
    const { gl } = this;
    const at = (name: string, { buffer, numComponents, type, normalize, stride, offset }: twgl.AttribInfo, bytes: number): void => {
      const location = gl.getAttribLocation(this.programs.edges.program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer!);
      gl.vertexAttribPointer(location, numComponents!, type!, normalize ?? false, stride ?? 0, (offset ?? 0) + first * bytes);
    };
    at("start", ends[0], 24);
    at("end", ends[1], 24);
    at("style", styles, 4);
  }

  private edgeUniforms(panel: Panel, lens: Lens, { view, meanLength }: ViewBuffers, total: number): Record<string, unknown> {
    const { dark } = this.look!;
    return {
      size: [panel.width * this.ratio, panel.height * this.ratio],
      pixel: this.ratio,
      colors: KIND_STYLES.flatMap((_, kind) => toUnit(kindColor(kind, dark))),
      widths: KIND_STYLES.map(({ width }) => width),
      strengthWidth: total < 20_000 ? 1.2 : 0.4,
      alpha: edgeAlpha(total, meanLength * lens.scale, panel),
      fade: view.dimensions === 3 ? 0.7 : 0,
      dashes: panel.which === "after" ? 1 : 0,
    };
  }

  /** The back picture of a panel is complete: it becomes the front one. */
  private show(panel: Panel): void {
    const { gl } = this;
    const [x, y, width, height] = this.place(panel);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.pictures!.back.framebuffer);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, this.pictures!.front.framebuffer);
    gl.blitFramebuffer(x, y, x + width, y + height, x, y, x + width, y + height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /** Waits for the graphics card, so that times are those of frames and not of orders for frames. */
  finish(): void {
    this.gl.finish();
  }
}

/** Pixels across a vertex: as large as leaves room between vertices, and growing slowly with the zoom. */
export function pointSize(n: number, { width, height }: { width: number; height: number }, zoom: number): number {
  const room = Math.sqrt((width * height) / n);
  return Math.min(22, Math.max(2, 0.32 * room) * Math.max(1, zoom) ** 0.45, 14 + zoom);
}

/** Fainter where lines cover the panel many times over. */
export function edgeAlpha(edges: number, pixels: number, { width, height }: { width: number; height: number }): number {
  const cover = (edges * pixels) / (width * height);
  return Math.min(0.75, Math.max(0.035, 0.4 / Math.max(cover, 1e-9)));
}

