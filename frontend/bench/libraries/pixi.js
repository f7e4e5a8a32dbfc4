import { Buffer, BufferUsage, Container, Geometry, GlProgram, Mesh, Shader, WebGLRenderer } from "pixi.js";
import { fragmentShader, publish, vertexShader } from "./job.js";

publish(async (canvas, job) => {
  const renderer = new WebGLRenderer();
  await renderer.init({ canvas, width: canvas.width, height: canvas.height, antialias: false, background: "#ffffff" });
  const vertex = vertexShader.replaceAll("position;", "aPosition;").replaceAll("vec4(position", "vec4(aPosition");
  const shader = new Shader({ glProgram: new GlProgram({ vertex, fragment: fragmentShader }), resources: {} });
  const position = new Buffer({ data: job.position, usage: BufferUsage.VERTEX });
  const color = new Buffer({ data: job.color, usage: BufferUsage.VERTEX | BufferUsage.COPY_DST });
  const attributes = {
    aPosition: { buffer: position, format: "float32x2" },
    color: { buffer: color, format: "unorm8x4" },
  };
  const lines = new Geometry({ attributes, indexBuffer: job.ends, topology: "line-list" });
  const points = new Geometry({ attributes, topology: "point-list" });
  const stage = new Container();
  stage.addChild(new Mesh({ geometry: lines, shader }), new Mesh({ geometry: points, shader }));
  return () => {
    color.update();
    renderer.render(stage);
  };
});
