// All panels on one WebGL canvas: vertices or surfaces in the color of heat, and the kept pictures of edges under and over them.
import * as twgl from "twgl.js";
import type { Table } from "../color/maps.ts";
import type { Scale } from "../color/scale.ts";
import type { Which } from "../format/header.ts";
import type { View } from "../model/data.ts";
import type { Edges } from "../model/state.ts";
import type { Panel } from "./arrange.ts";
import { BufferMaker, makePrograms, makeQuad, type Programs, type ViewBuffers } from "./buffers.ts";
import type { Color, PanelDrawing } from "./drawing.ts";
import { EdgePictures } from "./edge-pictures.ts";
import { PointPictures } from "./point-pictures.ts";

export interface Look {
  dark: boolean;
  page: Color;
  background: Color;
  table: Table;
  edges: Edges;
}

export interface Moment {
  /** Between the two frames of heat that are loaded. */
  part: number;
  scale: Scale;
}

const STRETCH = { linear: 0, root: 1, log: 2 } as const;
/** Vertices of larger views are kept as a picture of their numbers. */
const MANY_VERTICES = 10_000;
const NO_WEBGL = "This page draws with WebGL 2, and this browser does not offer it. Turn on hardware acceleration, or try another browser.";

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
  private readonly edges: EdgePictures;
  private readonly numbers: PointPictures;
  private readonly gl: WebGL2RenderingContext;
  private readonly programs: Programs;
  private readonly views: ViewBuffers[];
  private readonly quad: twgl.VertexArrayInfo;
  private readonly map: WebGLTexture;
  private look: Look | null = null;
  private ratio = 1;

  constructor(
    readonly canvas: HTMLCanvasElement,
    views: readonly View[],
  ) {
    const gl = canvas.getContext("webgl2", { antialias: !this.software, alpha: false, powerPreference: "high-performance" });
    if (!gl) throw new Error(NO_WEBGL);
    this.gl = gl;
    this.programs = makePrograms(gl);
    const quad = makeQuad(gl);
    this.quad = twgl.createVertexArrayInfo(gl, this.programs.picture, quad);
    this.map = twgl.createTexture(gl, { width: 256, height: 1, minMag: gl.NEAREST, wrap: gl.CLAMP_TO_EDGE });
    const maker = new BufferMaker(gl, this.programs, quad);
    this.views = views.map((view) => maker.make(view));
    this.edges = new EdgePictures(gl, this.programs, this.views, (panel) => this.place(panel));
    this.numbers = new PointPictures(gl, this.programs, this.quad, this.views, (panel) => this.place(panel));
  }

  /** Many vertices, and no surface: drawn by their numbers. */
  private isLarge(view: number): boolean {
    const { n, faces } = this.views[view].view;
    return n > MANY_VERTICES && !faces;
  }

  /** Loads heat of a graph: slots 0 and 1 are the frames between which it moves. */
  setHeat(view: number, which: Which, slot: 0 | 1, heat: Float32Array | Float64Array): void {
    const { gl } = this;
    if (this.isLarge(view)) return this.numbers.setHeat(view, which, slot, heat);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.views[view].graphs[which].heat[slot]);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, heat instanceof Float32Array ? heat : Float32Array.from(heat));
  }

  resize(width: number, height: number, ratio: number): void {
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.edges.resize(this.canvas.width, this.canvas.height, ratio);
    this.numbers.resize(this.canvas.width, this.canvas.height);
  }

  /** The camera of a view has moved. */
  moved(view: number): void {
    this.edges.forget(view);
    this.numbers.forget(view);
  }

  setLook(look: Look): void {
    const { gl } = this;
    this.look = look;
    twgl.setTextureFromArray(gl, this.map, look.table, { width: 256, height: 1, minMag: gl.NEAREST, wrap: gl.CLAMP_TO_EDGE });
    this.edges.setLook(look.edges, look.dark, look.background);
  }

  /** Draws a frame; true if edges are still missing, and another frame should follow. `passed` is how long the last one took. */
  draw(panels: readonly PanelDrawing[], moment: Moment, passed: number, resting: boolean): boolean {
    const { gl } = this;
    const missing = this.edges.draw(panels, passed, resting);
    for (const drawing of panels)
      if (this.isLarge(drawing.panel.view)) this.numbers.prepare(drawing, this.size(drawing), this.heatUniforms(drawing, moment));
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.disable(gl.SCISSOR_TEST);
    gl.depthMask(true);
    gl.clearColor(...this.look!.page, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const drawing of panels) this.drawPanel(drawing, moment);
    return missing;
  }

  private place({ x, y, width, height }: Panel): [number, number, number, number] {
    const r = this.ratio;
    return [Math.round(x * r), Math.round(this.canvas.height - (y + height) * r), Math.round(width * r), Math.round(height * r)];
  }

  private drawPanel(drawing: PanelDrawing, moment: Moment): void {
    const { gl } = this;
    const place = this.place(drawing.panel);
    gl.viewport(...place);
    gl.scissor(...place);
    gl.enable(gl.SCISSOR_TEST);
    const { faces } = this.views[drawing.panel.view].view;
    const { under, over } = this.edges;
    if (this.isLarge(drawing.panel.view)) return this.numbers.draw(drawing, under, over, this.look!.background);
    this.drawPicture(under, false);
    if (faces) this.drawSurface(drawing, moment);
    else this.drawPoints(drawing, moment);
    if (this.edges.hasOver(drawing.panel)) this.drawPicture(over, true);
  }

  private drawPicture(picture: WebGLTexture, blended: boolean): void {
    const { gl } = this;
    gl.disable(gl.DEPTH_TEST);
    if (blended) gl.enable(gl.BLEND);
    else gl.disable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(this.programs.picture.program);
    twgl.setBuffersAndAttributes(gl, this.programs.picture, this.quad);
    twgl.setUniforms(this.programs.picture, { picture });
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  private heatUniforms({ silent, lens }: PanelDrawing, { scale, part }: Moment): Record<string, unknown> {
    const { background } = this.look!;
    return {
      matrix: lens.matrix,
      part,
      silent: silent ? 1 : 0,
      scale: [scale.low, scale.high, STRETCH[scale.stretch]],
      map: this.map,
      background,
    };
  }

  private size({ panel, lens }: PanelDrawing): number {
    const { view, lengths } = this.views[panel.view];
    return pointSize(view.n, panel, lens.camera.zoom, lengths.short * lens.scale) * this.ratio;
  }

  private begin(program: twgl.ProgramInfo, array: twgl.VertexArrayInfo): void {
    const { gl } = this;
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.disable(gl.BLEND);
    gl.useProgram(program.program);
    twgl.setBuffersAndAttributes(gl, program, array);
  }

  private drawPoints(drawing: PanelDrawing, moment: Moment): void {
    const { gl, programs } = this;
    const { view, graphs } = this.views[drawing.panel.view];
    this.begin(programs.points, graphs[drawing.panel.which].points);
    twgl.setUniforms(programs.points, {
      ...this.heatUniforms(drawing, moment),
      size: this.size(drawing),
      flatView: view.dimensions === 2 ? 1 : 0,
    });
    gl.drawArrays(gl.POINTS, 0, view.n);
  }

  private drawSurface(drawing: PanelDrawing, moment: Moment): void {
    const { gl, programs } = this;
    const surface = this.views[drawing.panel.view].graphs[drawing.panel.which].surface!;
    const { right, up, back } = drawing.lens;
    this.begin(programs.surface, surface);
    twgl.setUniforms(programs.surface, {
      ...this.heatUniforms(drawing, moment),
      turn: [0, 1, 2].flatMap((k) => [right[k], up[k], back[k]]),
    });
    twgl.drawBufferInfo(gl, surface, gl.TRIANGLES);
  }
}

/**
 * Pixels across a vertex: as large as leaves room between vertices, growing slowly with the zoom, and narrower than short
 * edges are long, which would be hidden otherwise.
 */
export function pointSize(n: number, { width, height }: { width: number; height: number }, zoom: number, edge: number): number {
  const room = Math.sqrt((width * height) / n);
  const most = edge > 0 ? Math.max(7, 0.7 * edge) : Infinity;
  return Math.min(22, Math.max(1.6, 0.32 * room) * Math.max(1, zoom) ** 0.45, 14 + zoom, most);
}
