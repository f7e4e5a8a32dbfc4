import * as twgl from "twgl.js";
import { fragmentShader, publish, vertexShader } from "./job.js";

publish((canvas, job) => {
  const gl = canvas.getContext("webgl2", { antialias: false });
  const program = twgl.createProgramInfo(gl, [vertexShader, fragmentShader]);
  const lines = twgl.createBufferInfoFromArrays(gl, {
    position: { numComponents: 2, data: job.position },
    color: { numComponents: 4, data: job.color, normalize: true, drawType: gl.DYNAMIC_DRAW },
    indices: { numComponents: 2, data: job.ends },
  });
  const points = twgl.createBufferInfoFromArrays(gl, {
    position: { numComponents: 2, buffer: lines.attribs.position.buffer, numElements: job.n },
  });
  points.attribs.color = lines.attribs.color;
  points.numElements = job.n;
  return () => {
    twgl.setAttribInfoBufferFromArray(gl, lines.attribs.color, job.color);
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(program.program);
    twgl.setBuffersAndAttributes(gl, program, lines);
    twgl.drawBufferInfo(gl, lines, gl.LINES);
    twgl.setBuffersAndAttributes(gl, program, points);
    gl.drawArrays(gl.POINTS, 0, job.n);
  };
});
