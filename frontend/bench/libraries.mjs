// Frames a second of rendering libraries on the viewer's own job, and the size of a bundle that does it.
//   npm --prefix bench/libraries ci && npm run bench:libraries
import { build } from "esbuild";
import { gzipSync } from "node:zlib";
import { launch } from "../dev/chromium.mjs";

const LIBRARIES = ["none", "twgl", "regl", "ogl", "three", "pixi"];
const SIZES = [
  [5_000, 50_000],
  [50_000, 500_000],
];
const SECONDS = 4;

const bundle = async (name) => {
  const made = await build({
    entryPoints: [`bench/libraries/${name}.js`],
    bundle: true,
    minify: true,
    format: "iife",
    write: false,
    logLevel: "error",
  });
  return made.outputFiles[0].text;
};

// gl.finish would not wait for the compositor; the animation loop counts what is shown.
const measure = (seconds) =>
  new Promise((resolve) => {
    const draw = window.draw;
    for (let k = 0; k < 3; k++) draw(k);
    let frames = 0;
    const begin = performance.now();
    const step = () => {
      draw(frames++);
      const passed = performance.now() - begin;
      if (passed < 1000 * seconds) requestAnimationFrame(step);
      else resolve((1000 * frames) / passed);
    };
    requestAnimationFrame(step);
  });

const browser = await launch();
for (const name of LIBRARIES) {
  const code = await bundle(name);
  const row = [
    name.padEnd(6),
    `${Math.round(code.length / 1000)} kB`.padStart(8),
    `${Math.round(gzipSync(code).length / 1000)} kB gzip`.padStart(12),
  ];
  for (const [n, m] of SIZES) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on("pageerror", (error) => console.error(name, error.message));
    page.on("console", (message) => message.type() === "error" && console.error(name, message.text()));
    await page.setContent("<body style='margin:0'></body>");
    await page.addScriptTag({ content: code });
    await page.evaluate(([n, m]) => window.start(n, m), [n, m]);
    row.push(`${(await page.evaluate(measure, SECONDS)).toFixed(1)} frames/s`.padStart(16));
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}-${n}.png` });
    await page.close();
  }
  console.log(row.join("  "));
}
await browser.close();
