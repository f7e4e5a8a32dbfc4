import createREGL from "regl";
import { publish } from "./job.js";

publish((canvas, job) => {
  const gl = canvas.getContext("webgl", { antialias: false });
  const regl = createREGL({ gl, extensions: ["OES_element_index_uint"] });
  const color = regl.buffer({ usage: "dynamic", data: job.color });
  const common = {
    vert: `attribute vec2 position; attribute vec4 color; varying vec4 shade;
      void main() { gl_Position = vec4(position, 0.0, 1.0); gl_PointSize = 3.0; shade = color; }`,
    frag: `precision mediump float; varying vec4 shade; void main() { gl_FragColor = shade; }`,
    attributes: {
      position: { buffer: regl.buffer(job.position), size: 2 },
      color: { buffer: color, size: 4, normalized: true, type: "uint8" },
    },
    depth: { enable: false },
  };
  const lines = regl({ ...common, elements: regl.elements({ data: job.ends, primitive: "lines", type: "uint32" }) });
  const points = regl({ ...common, primitive: "points", count: job.n });
  return () => {
    color.subdata(job.color);
    regl.clear({ color: [1, 1, 1, 1] });
    lines();
    points();
  };
});
