// What the graphics card holds of a view: positions once, heat and styles of edges for both graphs.
import * as twgl from "twgl.js";
import { WHICH, type Which } from "../format/header.ts";
import type { View } from "../model/data.ts";
import { drawingOrder, endsOf, heavyWeight, lengthsOf, stylesOf } from "./edges.ts";
import * as glsl from "./shaders.ts";
import { vertexNormals } from "./surface.ts";

export interface Programs {
  points: twgl.ProgramInfo;
  surface: twgl.ProgramInfo;
  edges: twgl.ProgramInfo;
  lines: twgl.ProgramInfo;
  depth: twgl.ProgramInfo;
  picture: twgl.ProgramInfo;
  numbers: twgl.ProgramInfo;
  colors: twgl.ProgramInfo;
  compose: twgl.ProgramInfo;
}

export const makePrograms = (gl: WebGL2RenderingContext): Programs => {
  const program = (vertex: string, fragment: string): twgl.ProgramInfo => twgl.createProgramInfo(gl, [vertex, fragment]);
  return {
    points: program(glsl.POINTS_VERTEX, glsl.POINTS_FRAGMENT),
    surface: program(glsl.SURFACE_VERTEX, glsl.SURFACE_FRAGMENT),
    edges: program(glsl.EDGES_VERTEX, glsl.EDGES_FRAGMENT),
    lines: program(glsl.LINES_VERTEX, glsl.LINES_FRAGMENT),
    depth: program(glsl.DEPTH_VERTEX, glsl.DEPTH_FRAGMENT),
    picture: program(glsl.PICTURE_VERTEX, glsl.PICTURE_FRAGMENT),
    numbers: program(glsl.NUMBERS_VERTEX, glsl.NUMBERS_FRAGMENT),
    colors: program(glsl.PICTURE_VERTEX, glsl.COLORS_FRAGMENT),
    compose: program(glsl.PICTURE_VERTEX, glsl.COMPOSE_FRAGMENT),
  };
};

export interface GraphBuffers {
  /** Two frames, between which heat moves. */
  heat: [WebGLBuffer, WebGLBuffer];
  points: twgl.VertexArrayInfo;
  numbers: twgl.VertexArrayInfo;
  surface: twgl.VertexArrayInfo | null;
  depth: twgl.VertexArrayInfo | null;
  edges: twgl.VertexArrayInfo;
  /** Where edges are many, those as before are lines. */
  lines: twgl.VertexArrayInfo | null;
  styles: twgl.AttribInfo;
}

export interface ViewBuffers {
  view: View;
  /** Edges in drawing order: so many as before, then the changed ones. */
  unchanged: number;
  /** Of edges, in units of the view. */
  lengths: { mean: number; short: number };
  ends: [twgl.AttribInfo, twgl.AttribInfo];
  graphs: Record<Which, GraphBuffers>;
}

const MANY_EDGES = 20_000;

/** A rectangle: x from 0 to 1, y from -1 to 1. */
export const makeQuad = (gl: WebGL2RenderingContext): twgl.BufferInfo =>
  twgl.createBufferInfoFromArrays(gl, { corner: { numComponents: 2, data: [0, -1, 1, -1, 0, 1, 1, 1] } });

export class BufferMaker {
  constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly programs: Programs,
    private readonly quad: twgl.BufferInfo,
  ) {}

  make(view: View): ViewBuffers {
    const { order, unchanged } = drawingOrder(view);
    const heavy = heavyWeight(view);
    const endsBuffer = this.buffer(endsOf(view, order));
    const end = (offset: number): twgl.AttribInfo => ({
      buffer: endsBuffer,
      numComponents: 3,
      type: this.gl.FLOAT,
      stride: 24,
      offset,
      divisor: 1,
    });
    const ends: [twgl.AttribInfo, twgl.AttribInfo] = [end(0), end(12)];
    const shape = this.shape(view);
    const graphs = WHICH.map((which) => [which, this.graph(view, stylesOf(view, which, order, heavy), shape, ends)]);
    return { view, unchanged, lengths: lengthsOf(view), ends, graphs: Object.fromEntries(graphs) as Record<Which, GraphBuffers> };
  }

  private buffer(data: Float32Array | Uint8Array, usage: number = this.gl.STATIC_DRAW): WebGLBuffer {
    return twgl.createBufferFromTypedArray(this.gl, data, this.gl.ARRAY_BUFFER, usage) as WebGLBuffer;
  }

  private floats(data: Float32Array, numComponents: number, usage?: number): twgl.AttribInfo {
    return { buffer: this.buffer(data, usage), numComponents, type: this.gl.FLOAT };
  }

  private shape({ position, faces }: View): { position: twgl.AttribInfo; normal: twgl.AttribInfo | null; indices: WebGLBuffer | null } {
    return {
      position: this.floats(position, 3),
      normal: faces && this.floats(vertexNormals(position, faces), 3),
      indices: faces && (twgl.createBufferFromTypedArray(this.gl, faces, this.gl.ELEMENT_ARRAY_BUFFER) as WebGLBuffer),
    };
  }

  private graph(
    view: View,
    styleBytes: Uint8Array,
    { position, normal, indices }: ReturnType<BufferMaker["shape"]>,
    [start, end]: [twgl.AttribInfo, twgl.AttribInfo],
  ): GraphBuffers {
    const { gl, programs } = this;
    const [heatA, heatB] = [0, 1].map(() => this.floats(new Float32Array(view.n), 1, gl.DYNAMIC_DRAW));
    const styles: twgl.AttribInfo = {
      buffer: this.buffer(styleBytes),
      numComponents: 4,
      type: gl.UNSIGNED_BYTE,
      normalize: true,
      divisor: 1,
    };
    const corners = view.faces?.length ?? 0;
    return {
      heat: [heatA.buffer!, heatB.buffer!],
      styles,
      points: this.array(programs.points, { position, heatA, heatB }, view.n, null),
      numbers: this.array(programs.numbers, { position }, view.n, null),
      surface: normal && this.array(programs.surface, { position, normal, heatA, heatB }, corners, indices),
      depth: normal && this.array(programs.depth, { position }, corners, indices),
      lines: view.m > MANY_EDGES ? this.lines(start.buffer!, styleBytes) : null,
      edges: this.array(programs.edges, { ...this.quad.attribs, start, end, style: styles }, 4, null),
    };
  }

  /** Both ends of an edge have its style. */
  private lines(ends: WebGLBuffer, styleBytes: Uint8Array): twgl.VertexArrayInfo {
    const edges = new Uint32Array(styleBytes.buffer);
    const twice = new Uint32Array(2 * edges.length);
    for (let k = 0; k < edges.length; k++) twice[2 * k] = twice[2 * k + 1] = edges[k];
    const position: twgl.AttribInfo = { buffer: ends, numComponents: 3, type: this.gl.FLOAT };
    const style: twgl.AttribInfo = {
      buffer: this.buffer(new Uint8Array(twice.buffer)),
      numComponents: 4,
      type: this.gl.UNSIGNED_BYTE,
      normalize: true,
    };
    return this.array(this.programs.lines, { position, style }, twice.length, null);
  }

  private array(
    program: twgl.ProgramInfo,
    attribs: Record<string, twgl.AttribInfo>,
    numElements: number,
    indices: WebGLBuffer | null,
  ): twgl.VertexArrayInfo {
    const faces = indices ? { indices, elementType: this.gl.UNSIGNED_INT } : {};
    return twgl.createVertexArrayInfo(this.gl, program, { attribs, numElements, ...faces });
  }
}
