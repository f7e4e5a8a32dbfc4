import { Geometry, Mesh, Program, Renderer, Transform } from "ogl";
import { fragmentShader, publish, vertexShader } from "./job.js";

publish((canvas, job) => {
  const renderer = new Renderer({ canvas, width: canvas.width, height: canvas.height, dpr: 1, antialias: false });
  const gl = renderer.gl;
  gl.clearColor(1, 1, 1, 1);
  const program = new Program(gl, { vertex: vertexShader, fragment: fragmentShader, depthTest: false });
  const position = { size: 2, data: job.position };
  const color = { size: 4, data: job.color, normalized: true, type: gl.UNSIGNED_BYTE, usage: gl.DYNAMIC_DRAW };
  const lines = new Geometry(gl, { position, color, index: { data: job.ends } });
  const points = new Geometry(gl, { position: { ...position }, color: { ...color } });
  const scene = new Transform();
  for (const [geometry, mode] of [
    [lines, gl.LINES],
    [points, gl.POINTS],
  ])
    new Mesh(gl, { geometry, program, mode, frustumCulled: false }).setParent(scene);
  return () => {
    lines.attributes.color.needsUpdate = true;
    points.attributes.color.needsUpdate = true;
    renderer.render({ scene, sort: false, frustumCull: false });
  };
});
