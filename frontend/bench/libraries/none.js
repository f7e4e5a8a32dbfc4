import { publish } from "./job.js";

// An empty page: a cleared canvas of the same size, which is what the browser alone can do.
publish((canvas) => {
  const gl = canvas.getContext("webgl2", { antialias: false });
  return () => {
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  };
});
