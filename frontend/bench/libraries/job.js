// The job every library gets: points and lines on shared vertices, whose colors change in every frame.
export function makeJob(n, m) {
  let seed = 1;
  const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const position = new Float32Array(2 * n);
  for (let v = 0; v < 2 * n; v++) position[v] = 1.9 * random() - 0.95;
  // Ends of an edge are near each other, as in a graph of nearest neighbors that is laid out well.
  const side = Math.floor(Math.sqrt(n));
  for (let v = 0; v < n; v++) {
    position[2 * v] = 1.9 * ((v % side) / side) - 0.95 + 0.01 * random();
    position[2 * v + 1] = 1.9 * (Math.floor(v / side) / side) - 0.95 + 0.01 * random();
  }
  const ends = new Uint32Array(2 * m);
  for (let e = 0; e < m; e++) {
    const i = Math.floor(random() * n);
    const dx = Math.floor(random() * 7) - 3;
    const dy = Math.floor(random() * 7) - 3;
    ends[2 * e] = i;
    ends[2 * e + 1] = Math.min(n - 1, Math.max(0, i + dx + side * dy));
  }
  return { n, m, position, ends, color: new Uint8Array(4 * n) };
}

export function recolor(job, frame) {
  const { color, n } = job;
  for (let v = 0; v < n; v++) {
    const heat = 0.5 + 0.5 * Math.sin(v * 0.001 + frame * 0.1);
    color[4 * v] = 255 * heat;
    color[4 * v + 1] = 80;
    color[4 * v + 2] = 255 * (1 - heat);
    color[4 * v + 3] = 255;
  }
}

export const vertexShader = `#version 300 es
in vec2 position; in vec4 color; out vec4 shade;
void main() { gl_Position = vec4(position, 0.0, 1.0); gl_PointSize = 3.0; shade = color; }`;
export const fragmentShader = `#version 300 es
precision mediump float; in vec4 shade; out vec4 result;
void main() { result = shade; }`;

export function publish(start) {
  window.start = async (n, m) => {
    const canvas = document.createElement("canvas");
    canvas.width = 1280;
    canvas.height = 800;
    document.body.append(canvas);
    const job = makeJob(n, m);
    const draw = await start(canvas, job);
    window.draw = (frame) => {
      recolor(job, frame);
      draw();
    };
  };
}
