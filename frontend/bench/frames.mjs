// Frames a second of the viewer in headless Chromium with software rendering, beside an empty WebGL page of the same size.
//   npm run bench
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "../dev/chromium.mjs";
import { makePages } from "../dev/make-page.mjs";

const SECONDS = 5;
const VIEWPORT = { width: 1280, height: 800 };
const PAGES = { middle: "5,000 vertices, 50,000 edges a graph", large: "50,000 vertices, 500,000 edges a graph" };

/** Clears a canvas of the page's size in every frame: what the browser can do at all. */
const empty = (seconds) =>
  new Promise((resolve) => {
    document.body.style.margin = "0";
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: innerWidth, height: innerHeight });
    document.body.append(canvas);
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false });
    let frames = 0;
    const begin = performance.now();
    const step = () => {
      gl.clearColor((frames++ % 60) / 60, 0, 0, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const passed = performance.now() - begin;
      if (passed < 1000 * seconds) requestAnimationFrame(step);
      else resolve((1000 * frames) / passed);
    };
    requestAnimationFrame(step);
  });

const folder = await mkdtemp(join(tmpdir(), "cotherm-"));
await makePages(folder, Object.keys(PAGES));
const browser = await launch();
try {
  const blank = await browser.newPage({ viewport: VIEWPORT });
  const best = await blank.evaluate(empty, SECONDS);
  await blank.close();
  console.log(`empty page: ${best.toFixed(1)} frames/s`);
  for (const [name, text] of Object.entries(PAGES)) {
    const page = await browser.newPage({ viewport: VIEWPORT });
    const begin = performance.now();
    await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
    await page.evaluate(() => window.cotherm.ready);
    const opened = performance.now() - begin;
    await page.waitForFunction(() => window.cotherm.state().progress >= 1, null, { timeout: 120_000 });
    const heated = performance.now() - begin;
    await page.waitForFunction(() => window.cotherm.state().settled, null, { timeout: 120_000 });
    const drawn = performance.now() - begin;
    const playing = await page.evaluate((seconds) => window.cotherm.fps(seconds), SECONDS);
    const turning = await page.evaluate((seconds) => window.cotherm.fps(seconds, true), SECONDS);
    const rate = (x) => `${x.toFixed(1)} frames/s (${(x / best).toFixed(2)} of the empty page)`;
    console.log(
      `${text}: opens in ${(opened / 1000).toFixed(1)} s, heat complete after ${(heated / 1000).toFixed(1)} s, all edges drawn after ${(drawn / 1000).toFixed(1)} s, playing ${rate(playing)}, playing and moving ${rate(turning)}`,
    );
    await page.close();
  }
} finally {
  await browser.close();
  await rm(folder, { recursive: true });
}
