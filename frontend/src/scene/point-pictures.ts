/**
 * Vertices of large views, kept as a picture of their numbers: which vertex is seen at which pixel.
 *
 * It is drawn once for a camera. A frame of heat is then one color for every vertex (a small texture) and one look into it
 * for every pixel, whatever the number of vertices; drawing 50,000 points anew takes several times as long.
 */
import * as twgl from "twgl.js";
import type { Which } from "../format/header.ts";
import type { Programs, ViewBuffers } from "./buffers.ts";
import { keyOf, type PanelDrawing, type Place } from "./drawing.ts";

const WIDTH = 256;

/** Heat of a graph, and the colors made of it: a texel for every vertex, in rows of WIDTH. */
interface Graph {
  heat: [WebGLTexture, WebGLTexture];
  colors: twgl.FramebufferInfo;
  padded: Float32Array;
}

export class PointPictures {
  private readonly graphs = new Map<string, Graph>();
  private readonly drawn = new Set<string>();
  private numbers: { framebuffer: WebGLFramebuffer; texture: WebGLTexture; depth: WebGLRenderbuffer } | null = null;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly programs: Programs,
    private readonly quad: twgl.VertexArrayInfo,
    private readonly views: readonly ViewBuffers[],
    private readonly place: Place,
  ) {}

  resize(width: number, height: number): void {
    const { gl } = this;
    if (this.numbers) {
      gl.deleteFramebuffer(this.numbers.framebuffer);
      gl.deleteTexture(this.numbers.texture);
      gl.deleteRenderbuffer(this.numbers.depth);
    }
    const texture = this.texture(gl.R32UI, width, height);
    const depth = gl.createRenderbuffer()!;
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, width, height);
    const framebuffer = gl.createFramebuffer()!;
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    this.numbers = { framebuffer, texture, depth };
    this.forget();
  }

  forget(view?: number): void {
    for (const key of [...this.drawn]) if (view === undefined || key.startsWith(`${view}:`)) this.drawn.delete(key);
  }

  setHeat(view: number, which: Which, slot: 0 | 1, heat: ArrayLike<number>): void {
    const { gl } = this;
    const { heat: textures, padded } = this.graph(view, which);
    padded.set(heat);
    gl.bindTexture(gl.TEXTURE_2D, textures[slot]);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, WIDTH, padded.length / WIDTH, gl.RED, gl.FLOAT, padded);
  }

  private graph(view: number, which: Which): Graph {
    const { gl } = this;
    const key = keyOf({ view, which });
    const known = this.graphs.get(key);
    if (known) return known;
    const rows = Math.ceil(this.views[view].view.n / WIDTH);
    const heat: [WebGLTexture, WebGLTexture] = [this.texture(gl.R32F, WIDTH, rows), this.texture(gl.R32F, WIDTH, rows)];
    const colors = twgl.createFramebufferInfo(gl, [{ format: gl.RGBA, minMag: gl.NEAREST, wrap: gl.CLAMP_TO_EDGE }], WIDTH, rows);
    const made = { heat, colors, padded: new Float32Array(WIDTH * rows) };
    this.graphs.set(key, made);
    return made;
  }

  private texture(format: number, width: number, height: number): WebGLTexture {
    const { gl } = this;
    const texture = gl.createTexture()!;
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    return texture;
  }

  /** Numbers if the camera has moved, and colors: to be called before the canvas is drawn to. */
  prepare(drawing: PanelDrawing, size: number, heat: Record<string, unknown>): void {
    const key = keyOf(drawing.panel);
    if (!this.drawn.has(key)) this.drawNumbers(drawing, size);
    this.drawn.add(key);
    this.drawColors(drawing, heat);
  }

  private drawNumbers({ panel, lens }: PanelDrawing, size: number): void {
    const { gl, programs } = this;
    const { view, graphs } = this.views[panel.view];
    const place = this.place(panel);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.numbers!.framebuffer);
    gl.viewport(...place);
    gl.scissor(...place);
    gl.enable(gl.SCISSOR_TEST);
    gl.depthMask(true);
    gl.clearBufferuiv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    if (view.dimensions === 3) gl.enable(gl.DEPTH_TEST);
    else gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.useProgram(programs.numbers.program);
    twgl.setBuffersAndAttributes(gl, programs.numbers, graphs[panel.which].numbers);
    twgl.setUniforms(programs.numbers, { matrix: lens.matrix, size, flatView: view.dimensions === 2 ? 1 : 0 });
    gl.drawArrays(gl.POINTS, 0, view.n);
  }

  private drawColors({ panel }: PanelDrawing, heat: Record<string, unknown>): void {
    const { gl, programs } = this;
    const graph = this.graph(panel.view, panel.which);
    gl.bindFramebuffer(gl.FRAMEBUFFER, graph.colors.framebuffer);
    gl.viewport(0, 0, WIDTH, graph.colors.height);
    gl.disable(gl.SCISSOR_TEST);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.useProgram(programs.colors.program);
    twgl.setBuffersAndAttributes(gl, programs.colors, this.quad);
    twgl.setUniforms(programs.colors, { ...heat, heats: graph.heat[0], laterHeats: graph.heat[1] });
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** Draws a panel whole: vertices between the pictures of edges. Its viewport and scissors are set. */
  draw({ panel }: PanelDrawing, under: WebGLTexture, over: WebGLTexture, background: readonly number[]): void {
    const { gl, programs } = this;
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    gl.useProgram(programs.compose.program);
    twgl.setBuffersAndAttributes(gl, programs.compose, this.quad);
    const { colors } = this.graph(panel.view, panel.which);
    twgl.setUniforms(programs.compose, { numbers: this.numbers!.texture, colors: colors.attachments[0], under, over, background });
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
}
