import {
  BufferAttribute,
  BufferGeometry,
  LineSegments,
  OrthographicCamera,
  Points,
  RawShaderMaterial,
  Scene,
  Sphere,
  WebGLRenderer,
  GLSL3,
} from "three";
import { fragmentShader, publish, vertexShader } from "./job.js";

const body = (shader) => shader.replace("#version 300 es\n", "");

publish((canvas, job) => {
  const renderer = new WebGLRenderer({ canvas, antialias: false });
  renderer.setSize(canvas.width, canvas.height, false);
  renderer.setClearColor(0xffffff);
  const material = new RawShaderMaterial({
    vertexShader: body(vertexShader),
    fragmentShader: body(fragmentShader),
    glslVersion: GLSL3,
    depthTest: false,
  });
  const position = new BufferAttribute(job.position, 2);
  const color = new BufferAttribute(job.color, 4, true);
  const lines = new BufferGeometry().setAttribute("position", position).setAttribute("color", color);
  lines.setIndex(new BufferAttribute(job.ends, 1));
  const points = new BufferGeometry().setAttribute("position", position).setAttribute("color", color);
  const scene = new Scene();
  for (const object of [new LineSegments(lines, material), new Points(points, material)]) {
    object.frustumCulled = false;
    object.geometry.boundingSphere = new Sphere(undefined, 2);
    scene.add(object);
  }
  const camera = new OrthographicCamera();
  return () => {
    color.needsUpdate = true;
    renderer.render(scene, camera);
  };
});
