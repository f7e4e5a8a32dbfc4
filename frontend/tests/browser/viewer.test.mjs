import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { storedValue } from "../../dev/problems.mjs";
import { heat, heated, Pages, state, total } from "./pages.mjs";

const pages = new Pages();
before(() =>
  pages.start([
    "ring",
    "weighed",
    "surface",
    "space",
    "hostile",
    "plain",
    "reduced",
    "damaged-json",
    "damaged-blocks",
    "damaged-shape",
    "large",
  ]),
);
after(() => pages.stop());

const quiet = async (page) => {
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(await page.evaluate(() => window.cotherm.errors), []);
  await page.close();
};

/** Pixels of the canvas where a vertex lies, by the same arithmetic that a reader's eyes would use: its ring in the marks. */
const ringOf = (page, panel) =>
  page.evaluate((k) => {
    const circle = document.querySelectorAll(".panel")[k].querySelector(".mark.source circle");
    const box = document.querySelectorAll(".panel")[k].getBoundingClientRect();
    return { x: box.left + Number(circle.getAttribute("cx")), y: box.top + Number(circle.getAttribute("cy")) };
  }, panel);

test("the slider moves heat, and heat is kept at every stop", async () => {
  const page = await pages.open("ring");
  const slider = page.getByRole("slider", { name: "Time of diffusion" });
  const stops = Number(await slider.getAttribute("max"));
  const frames = [];
  for (let stop = 0; stop <= stops; stop++) {
    await slider.fill(`${stop}`);
    assert.equal((await state(page)).stop, stop);
    const values = await heat(page, 1, "after");
    frames.push(values);
    assert.ok(Math.abs(total(values) - total(frames[0])) < 1e-9 * total(frames[0]));
  }
  assert.notDeepEqual(frames[0], frames[stops]);
  assert.ok(Math.max(...frames[stops]) < Math.max(...frames[10]) && Math.max(...frames[10]) < Math.max(...frames[0]));
  await quiet(page);
});

test("heat is kept on large graphs too, in 32 bits", async () => {
  const page = await pages.open("large", { hash: "#time=0" });
  const start = total(await heat(page, 0, "before"));
  for (const stop of [1, 20, 48]) {
    await page.evaluate((s) => window.cotherm.setTime(s), stop);
    assert.ok(Math.abs(total(await heat(page, 0, "before")) / start - 1) < 1e-5);
  }
  await quiet(page);
});

test("a click starts heat there and at its partner, and the picture changes", async () => {
  const page = await pages.open("ring");
  await page.evaluate(() => window.cotherm.setSource("v:0:30"));
  await page.waitForTimeout(300);
  const place = await ringOf(page, 0);
  await page.evaluate(() => window.cotherm.setSource("f:0"));
  await heated(page);
  const picture = await page.screenshot();
  await page.mouse.move(place.x, place.y);
  await page.waitForTimeout(100);
  assert.match(await page.locator(".tooltip").innerText(), /item 30/);
  await page.mouse.down();
  await page.mouse.up();
  assert.deepEqual((await state(page)).source, { type: "vertex", view: 0, vertex: 30 });
  await heated(page);
  await page.evaluate(() => window.cotherm.setTime(0));
  for (const view of [0, 1])
    for (const which of ["before", "after"]) {
      const values = await heat(page, view, which);
      assert.equal(values[30], 1);
      assert.equal(total(values), 1);
    }
  assert.notDeepEqual(await page.screenshot(), picture);
  await quiet(page);
});

test("how far views are believed about an item is said where one points and where heat starts", async () => {
  const page = await pages.open("weighed");
  await page.getByRole("tab", { name: "Nearest" }).click();
  for (const [vertex, said] of [
    [6, "images 0.50, words 0.38, sounds 0.13"],
    [7, null],
  ]) {
    await page.evaluate((v) => window.cotherm.setSource(`v:0:${v}`), vertex);
    await page.waitForTimeout(300);
    const place = await ringOf(page, 0);
    await page.mouse.move(place.x, place.y);
    await page.waitForTimeout(100);
    const [tooltip, nearest] = await Promise.all([".tooltip", ".nearest .hint >> nth=0"].map((where) => page.locator(where).innerText()));
    for (const text of [tooltip, nearest]) assert.equal(text.includes("believed"), said !== null);
    if (said !== null) assert.ok(tooltip.includes(said) && nearest.includes(`believed about it: ${said}.`), `${tooltip} ${nearest}`);
  }
  await quiet(page);
});

test("an item without a partner starts heat only where it is, and the page says so", async () => {
  const page = await pages.open("ring");
  await page.evaluate(() => window.cotherm.setSource("v:0:58"));
  await heated(page);
  await page.waitForTimeout(300);
  assert.equal((await heat(page, 1, "after")).length, 0);
  assert.match(await page.locator(".toast").innerText(), /only/);
  assert.equal(await page.locator(".note", { hasText: "No partner" }).count(), 2);
  await quiet(page);
});

test("the changed edges are those of the data, in the hook, in the table and in the CSV", async () => {
  const page = await pages.open("ring");
  const changed = await page.evaluate(() => [0, 1].map((view) => window.cotherm.changed(view)));
  const cut = changed[1].filter(([, , kind]) => kind === 1).map(([i, j]) => [i, j]);
  assert.deepEqual(cut, [
    [5, 35],
    [12, 40],
    [20, 50],
  ]);
  await page.getByRole("tab", { name: /Changes/ }).click();
  assert.match(await page.locator(".changes > .hint").innerText(), new RegExp(`^${changed.flat().length} of`));
  for (const name of ["weakened", "strengthened", "new"]) await page.getByRole("checkbox", { name }).uncheck();
  assert.equal(await page.locator(".rows .row").count(), 3);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export CSV" }).click()]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  assert.equal(lines.length, 4);
  assert.ok(lines.slice(1).every((line) => line.startsWith("Ring with short cuts,cut,")));
  await page.locator(".rows .row").first().click();
  assert.equal((await state(page)).edge.view, 1);
  assert.ok((await state(page)).cameras[1].zoom >= 1);
  await page.locator(".panel .mark.chosen").first().waitFor({ state: "attached" });
  await quiet(page);
});

test("the keyboard alone suffices", async () => {
  const page = await pages.open("ring", { hash: "#time=5" });
  await page.keyboard.press("ArrowRight");
  assert.equal((await state(page)).stop, 6);
  await page.keyboard.press("End");
  assert.equal((await state(page)).stop, 48);
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  assert.equal((await state(page)).playing, true);
  await page.waitForTimeout(1500);
  await page.keyboard.press("Space");
  assert.ok((await state(page)).stop > 0 && !(await state(page)).playing);
  await page.keyboard.press("f");
  assert.deepEqual((await state(page)).source, { type: "function", index: 1 });
  await page.keyboard.press("/");
  await page.keyboard.type("item 17");
  await page.keyboard.press("Enter");
  assert.deepEqual((await state(page)).source, { type: "vertex", view: 0, vertex: 17 });
  await page.keyboard.press("Tab");
  await page.keyboard.press("2");
  assert.equal((await state(page)).shown, "before");
  await page.keyboard.press("1");
  // Every control is reached by Tab, and shows that it has the focus.
  const reached = new Set();
  for (let k = 0; k < 40; k++) {
    await page.keyboard.press("Tab");
    const what = await page.evaluate(() => {
      const e = document.activeElement;
      const outlined = getComputedStyle(e).outlineStyle !== "none";
      return { name: e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent, outlined, tag: e.tagName };
    });
    if (what.tag === "BODY") continue;
    assert.ok(what.outlined, `${what.name} shows no focus`);
    reached.add(what.name);
  }
  for (const wanted of [/Save what is seen as a PNG/, /Play/, /Time of diffusion/, /Overview/, /^Ring, before/, /Source/, /Edges/])
    assert.ok(
      [...reached].some((name) => wanted.test(name)),
      `${wanted} in ${[...reached].join(" | ")}`,
    );
  // On a panel: arrows move, plus zooms, Enter starts heat at the vertex in the middle.
  await page.locator(".panel").first().focus();
  for (const key of ["0", "ArrowRight", "+"]) await page.keyboard.press(key);
  const camera = (await state(page)).cameras[0];
  assert.ok(camera.center[0] > 0 && camera.zoom > 1);
  for (let k = 0; k < 4; k++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const { source } = await state(page);
  assert.ok(source.type === "vertex" && (source.vertex < 8 || source.vertex > 52), `heat started at ${source.vertex}`);
  await page.keyboard.press("?");
  assert.ok(await page.getByRole("dialog").isVisible());
  await page.keyboard.press("Escape");
  assert.ok(!(await page.getByRole("dialog").isVisible()));
  // The tabs and the table.
  await page.getByRole("tab", { name: "Overview" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(".rows").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.notEqual((await state(page)).edge, null);
  await quiet(page);
});

test("screen readers hear time and source", async () => {
  const page = await pages.open("ring");
  await page.keyboard.press("ArrowRight");
  await page.waitForTimeout(400);
  assert.match(await page.locator(".unseen[role=status]").innerText(), /^Time /);
  await page.keyboard.press("f");
  await page.waitForTimeout(400);
  assert.match(await page.locator(".unseen[role=status]").innerText(), /Landmark 2/);
  assert.match(await page.getByRole("slider").getAttribute("aria-valuetext"), /time .* stop \d+ of 48/);
  await quiet(page);
});

test("hostile names do nothing", async () => {
  const page = await pages.open("hostile");
  await page.keyboard.press("/");
  await page.keyboard.type("<");
  await page.waitForTimeout(300);
  await page.keyboard.press("Enter");
  for (let k = 0; k < 3; k++) await page.keyboard.press("Tab");
  for (const name of [/Changes/, "Nearest", "Overview"]) {
    await page.getByRole("tab", { name }).click();
    await page.waitForTimeout(150);
  }
  const box = await page.locator(".panel").first().boundingBox();
  for (let x = 0.1; x < 1; x += 0.1) await page.mouse.move(box.x + x * box.width, box.y + box.height * (0.5 + 0.4 * Math.sin(9 * x)));
  for (const label of [/PNG/, /SVG/]) await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: label }).click()]);
  assert.equal(await page.evaluate(() => window.attacked), undefined);
  assert.equal(await page.locator("#app script, #app iframe, #app object").count(), 0);
  assert.equal(await page.locator("h1").innerText(), "</script><script>window.attacked = 1</script>");
  await quiet(page);
});

test("a link restores the state, and hostile links are ignored", async () => {
  const page = await pages.open("ring");
  await page.evaluate(() => (window.cotherm.setSource("v:1:20"), window.cotherm.setTime(31)));
  await page.keyboard.press("3");
  await page.keyboard.press("d");
  await page.locator(".panel").first().focus();
  await page.keyboard.press("+");
  await page.waitForTimeout(500);
  const link = await page.evaluate(() => location.hash);
  const wanted = await state(page);
  const other = await pages.open("ring", { hash: link });
  const found = await state(other);
  for (const key of ["view", "stop", "source", "shown", "theme"]) assert.deepEqual(found[key], wanted[key], key);
  assert.ok(Math.abs(found.cameras[1].zoom - wanted.cameras[1].zoom) < 1e-3);
  assert.equal(await other.evaluate(() => document.documentElement.dataset.theme), wanted.theme);
  await quiet(other);
  await quiet(page);
  const bad = await pages.open("ring", { hash: "#view=9&time=-4&source=v:0:99999&shown=<script>&theme=x&camera0=1,2,3" });
  assert.equal((await state(bad)).view, null);
  await quiet(bad);
});

test("what is seen is saved: SVG with lines and circles, or with a picture where they are too many; PNG", async () => {
  const save = async (page, name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    return readFile(await download.path());
  };
  const small = await pages.open("ring");
  const vector = (await save(small, /SVG/)).toString();
  assert.equal(vector.match(/<circle/g).length >= 240, true);
  assert.ok(vector.includes("<line") && !vector.includes("<image") && vector.includes("item") === false);
  const png = await save(small, /PNG/);
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  assert.ok(png.length > 10_000);
  // The picture is not empty: decoded in the page, it has many colors.
  const colors = await small.evaluate(
    async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let k = 0; k < data.length; k += 4) seen.add((data[k] << 16) | (data[k + 1] << 8) | data[k + 2]);
      return seen.size;
    },
    `data:image/png;base64,${png.toString("base64")}`,
  );
  assert.ok(colors > 50, `${colors} colors`);
  await quiet(small);
  const big = await pages.open("large");
  const raster = (await save(big, /SVG/)).toString();
  assert.ok(raster.includes("<image") && !raster.includes("<line x1"));
  await quiet(big);
});

for (const name of ["surface", "space", "plain"])
  test(`the page ${name} is shown, rotated and zoomed without complaints`, async () => {
    const page = await pages.open(name);
    const box = await page.locator(".panel").first().boundingBox();
    const start = (await state(page)).cameras[0];
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2 + 30, { steps: 4 });
    await page.mouse.up();
    await page.mouse.wheel(0, -240);
    await page.waitForTimeout(200);
    const end = (await state(page)).cameras[0];
    assert.notDeepEqual(end.rotation.concat(end.center), start.rotation.concat(start.center));
    assert.ok(end.zoom > start.zoom);
    await quiet(page);
  });

for (const name of ["damaged-json", "damaged-blocks", "damaged-shape"])
  test(`${name} says what is wrong instead of being blank`, async () => {
    const page = await pages.open(name, { wait: false });
    const text = await page.getByRole("alert").innerText();
    assert.match(text, /cannot be shown/);
    assert.match(text, /damaged/);
    assert.equal(
      await page.evaluate(() =>
        window.cotherm.ready.then(
          () => "ready",
          (error) => error.message.length > 10,
        ),
      ),
      true,
    );
    await page.close();
  });

/** The stage once it no longer changes: how soon depends on the machine. */
async function settled(page) {
  let last = await page.locator(".stage").screenshot();
  for (let tries = 0; tries < 40; tries++) {
    await page.waitForTimeout(250);
    const next = await page.locator(".stage").screenshot();
    if (next.equals(last)) return next;
    last = next;
  }
  return assert.fail("the stage keeps changing");
}

test("what is seen after a link is the heat of its time", async () => {
  const page = await pages.open("ring", { hash: "#time=30" });
  const first = await settled(page);
  await page.evaluate(() => (window.cotherm.setTime(3), window.cotherm.setTime(30)));
  assert.ok((await settled(page)).equals(first));
  await page.evaluate(() => window.cotherm.setTime(3));
  let last = first;
  for (let tries = 0; tries < 40 && last.equals(first); tries++) last = await settled(page);
  assert.ok(!last.equals(first));
  await quiet(page);
});

test("a page inside of another page, which may do little, shows its heat too", async () => {
  const text = await readFile(join(pages.folder, "ring.html"), "utf8");
  const page = await pages.browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.evaluate((html) => {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts allow-downloads");
    Object.assign(frame, { width: "900", height: "600", srcdoc: html });
    document.body.append(frame);
  }, text);
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  await frame.waitForFunction(() => window.cotherm, null, { timeout: 30_000 });
  await frame.evaluate(() => window.cotherm.ready);
  await heated(frame);
  await frame.getByRole("slider").fill("7");
  assert.equal(await frame.evaluate(() => window.cotherm.state().stop), 7);
  await page.waitForTimeout(500);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await frame.evaluate(() => window.cotherm.errors), []);
  await page.close();
});

test("stored heat of whole graphs is shown as it is, and a click flows on what is shown", async () => {
  const page = await pages.open("reduced", { hash: "#time=11&source=f:2" });
  const values = await heat(page, 1, "after");
  values.forEach((value, vertex) => assert.ok(Math.abs(value - (0.5 + (2 * storedValue(1, 1, 2, 11, vertex)) / 65535)) < 1e-6));
  assert.match(await page.locator("table.small").last().innerText(), /6,000\s+9,000\s+7\s+6\s+5\s+4/);
  await page.evaluate(() => window.cotherm.setSource("v:1:3"));
  await heated(page);
  assert.ok(Math.abs(total(await heat(page, 1, "after")) - 1) < 1e-9);
  assert.match(await page.locator(".sections").innerText(), /whole graph, stored in 16 bits/);
  await quiet(page);
});

test("light and dark follow the system and the button", async () => {
  const page = await pages.open("ring", { colorScheme: "dark" });
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), "dark");
  await page.getByRole("button", { name: /Light or dark/ }).click();
  assert.equal(await theme(), "light");
  await quiet(page);
});

test("the page's policy lets nothing else run", async () => {
  const page = await pages.open("ring");
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.attacked = 1";
    document.body.append(script);
    return window.attacked;
  });
  assert.equal(ran, undefined);
  await page.close();
});
