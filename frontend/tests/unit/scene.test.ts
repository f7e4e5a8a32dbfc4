import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTable, toOklab, type Color } from "../../src/color/maps.ts";
import { makeScale, partOf, valueAt } from "../../src/color/scale.ts";
import { arrange, GAP } from "../../src/scene/arrange.ts";
import { IDENTITY, about, rows, times } from "../../src/scene/algebra.ts";
import { home, readCamera, writeCamera } from "../../src/scene/camera.ts";
import { drawingOrder } from "../../src/scene/edges.ts";
import { Lens } from "../../src/scene/lens.ts";
import { pickVertex, projectAll } from "../../src/scene/picking.ts";
import { vertexNormals } from "../../src/scene/surface.ts";
import { decades } from "../../src/ui/curve.ts";
import { formatNumber, shorten } from "../../src/ui/format.ts";

test("panels of any number of views lie inside, apart, and are all of one size", () => {
  for (const count of [1, 2, 3, 6, 13])
    for (const shown of ["both", "before", "after"] as const)
      for (const [width, height] of [
        [900, 560],
        [1400, 700],
        [400, 900],
      ]) {
        const panels = arrange(
          Array.from({ length: count }, (_, k) => k),
          shown,
          width,
          height,
        );
        assert.equal(panels.length, shown === "both" ? 2 * count : count);
        for (const a of panels) {
          assert.ok(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height);
          assert.ok(a.width === panels[0].width && a.height === panels[0].height);
          for (const b of panels)
            if (a !== b)
              assert.ok(
                a.x + a.width + GAP <= b.x || b.x + b.width + GAP <= a.x || a.y + a.height + GAP <= b.y || b.y + b.height + GAP <= a.y,
              );
        }
      }
});

test("two views are columns with before above after, and one view lies side by side", () => {
  const two = arrange([0, 1], "both", 900, 560);
  const at = (view: number, which: string): (typeof two)[number] => two.find((panel) => panel.view === view && panel.which === which)!;
  assert.equal(at(0, "before").x, at(0, "after").x);
  assert.ok(at(0, "before").y < at(0, "after").y);
  assert.ok(at(0, "before").x < at(1, "before").x);
  const one = arrange([3], "both", 900, 560);
  assert.equal(one[0].y, one[1].y);
  assert.ok(
    arrange([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "after", 900, 560).some(({ y }) => y > 0),
    "many views take several rows",
  );
  const tall = arrange([0, 1], "both", 900, 560, 0.4);
  assert.ok(
    tall.every(({ y }) => y === 0),
    "what is tall stands side by side",
  );
  assert.deepEqual(
    tall.map(({ view, which }) => `${view} ${which}`),
    ["0 before", "0 after", "1 before", "1 after"],
  );
});

const lightness = (name: "heat" | "viridis" | "inferno", dark: boolean): number[] => {
  const table = makeTable(name, false, dark);
  return Array.from({ length: 256 }, (_, k) => toOklab([table[4 * k], table[4 * k + 1], table[4 * k + 2]] as Color)[0]);
};

test("color maps go steadily in lightness, so that more heat is never taken for less", () => {
  for (const [name, dark, sign] of [
    ["heat", false, -1],
    ["heat", true, 1],
    ["viridis", false, 1],
    ["inferno", true, 1],
  ] as const) {
    const L = lightness(name, dark);
    for (let k = 1; k < 256; k++) assert.ok(sign * (L[k] - L[k - 1]) > -0.004, `${name} at ${k}`);
    assert.ok(Math.abs(L[255] - L[0]) > 0.4, name);
  }
});

test("viridis begins and ends as everywhere, and signs have gray between them", () => {
  const viridis = makeTable("viridis", false, false);
  assert.deepEqual([...viridis.slice(0, 3)], [0x44, 0x01, 0x54]);
  assert.deepEqual([...viridis.slice(-4, -1)], [0xfd, 0xe7, 0x25]);
  for (const dark of [false, true]) {
    const signed = makeTable("heat", true, dark);
    const chroma = (k: number): number => Math.hypot(...toOklab([signed[4 * k], signed[4 * k + 1], signed[4 * k + 2]] as Color).slice(1));
    assert.ok(chroma(127) < 0.02 && chroma(40) > 0.08 && chroma(215) > 0.08);
    assert.ok(signed[2] > signed[0] && signed[4 * 255] > signed[4 * 255 + 2], "blue below, red above");
  }
});

test("scales are undone by their inverses, and hold signs", () => {
  for (const stretch of ["linear", "root", "log"] as const) {
    const scale = makeScale(0, 2, stretch);
    for (const value of [0.001, 0.1, 1, 2]) assert.ok(Math.abs(valueAt(partOf(value, scale), scale) - value) < 1e-9);
    assert.equal(partOf(0, scale), 0);
    assert.equal(partOf(2, scale), 1);
  }
  const signed = makeScale(-1, 3, "log");
  assert.deepEqual([signed.low, signed.high, signed.stretch, signed.signed], [-3, 3, "linear", true]);
  assert.equal(makeScale(-1e-12, 1, "root").signed, false, "rounding is no sign");
  assert.equal(makeScale(0, 0, "root").high, 1);
});

const size = { width: 400, height: 300 };

test("the middle of a view is in the middle of its panel, and all of it is inside", () => {
  for (const flat of [true, false]) {
    const lens = new Lens(home(IDENTITY), flat, { x: 1, y: 1 }, size);
    assert.deepEqual(lens.project(0, 0, 0).slice(0, 2), [200, 150]);
    for (const [x, y] of [
      [1, 1],
      [-1, 1],
      [1, -1],
    ]) {
      const [px, py] = lens.project(x, y, 0);
      assert.ok(px > 0 && px < 400 && py > 0 && py < 300);
    }
    assert.ok(lens.project(0, 1, 0)[1] < 150, "y goes up");
  }
});

test("panning moves with the pointer, and zooming keeps what is under it", () => {
  const turned = { ...home(times(about([0, 1, 0], 0.7), about([1, 0, 0], 0.3))), zoom: 2 };
  for (const [flat, camera] of [
    [true, home(IDENTITY)],
    [false, turned],
  ] as const) {
    const lens = new Lens(camera, flat, { x: 1, y: 1 }, size);
    const moved = new Lens(lens.panned(30, -12), flat, { x: 1, y: 1 }, size);
    const [x, y] = moved.project(...camera.center);
    assert.ok(Math.abs(x - 230) < 0.5 && Math.abs(y - 138) < 0.5);
  }
  const lens = new Lens(home(IDENTITY), true, { x: 1, y: 1 }, size);
  const [x, y] = lens.project(0.4, 0.3, 0);
  const closer = new Lens(lens.zoomed(3, x, y), true, { x: 1, y: 1 }, size);
  assert.ok(Math.hypot(closer.project(0.4, 0.3, 0)[0] - x, closer.project(0.4, 0.3, 0)[1] - y) < 1e-3);
});

test("rotations stay rotations", () => {
  let q = IDENTITY;
  for (let k = 0; k < 1000; k++) q = times(about([0, 1, 0], 0.1), times(about([1, 0, 0], 0.07), q));
  for (const row of rows(q)) assert.ok(Math.abs(Math.hypot(...row) - 1) < 1e-12);
  const camera = { center: [0.1, -0.2, 0.3] as const, zoom: 2.5, rotation: q };
  assert.ok(Math.hypot(...readCamera(writeCamera(camera))!.rotation.map((value, k) => value - q[k])) < 1e-3);
});

test("the vertex under the pointer is picked, on surfaces the one in front", () => {
  const position = Float32Array.of(0, 0, -0.5, 0, 0, 0.5, 0.9, 0.9, 0);
  const lens = new Lens(home(IDENTITY), false, { x: 1, y: 1 }, size);
  const projected = new Float32Array(9);
  projectAll(lens, position, projected);
  const direct = lens.project(0.9, 0.9, 0);
  for (let d = 0; d < 3; d++) assert.ok(Math.abs(projected[6 + d] - direct[d]) < 1e-3);
  assert.equal(pickVertex(projected, 201, 150, 10, true), 1);
  assert.equal(pickVertex(projected, direct[0], direct[1], 10, false), 2);
  assert.equal(pickVertex(projected, 5, 5, 10, false), null);
});

test("edges are drawn once each, changed ones last", () => {
  const kind = Uint8Array.from({ length: 1000 }, (_, e) => (e % 7 === 0 ? 1 : 0));
  const { order, unchanged } = drawingOrder({ m: 1000, kind });
  assert.deepEqual(
    [...order].sort((a, b) => a - b),
    Array.from({ length: 1000 }, (_, e) => e),
  );
  assert.ok([...order].every((edge, k) => (kind[edge] === 0) === k < unchanged));
});

test("normals of a plane point away from it", () => {
  const normals = vertexNormals(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), Uint32Array.of(0, 1, 2));
  assert.deepEqual([...normals], [0, 0, 1, 0, 0, 1, 0, 0, 1]);
});

test("numbers and names are short", () => {
  assert.deepEqual(
    [0, 0.5, 1234.5678, 1e-7, 2.5e9, -0.25, NaN].map((x) => formatNumber(x)),
    ["0", "0.5", "1235", "1e−7", "2.5e9", "−0.25", "–"],
  );
  assert.equal(shorten("abcdef", 4), "abc…");
  assert.equal(shorten("𝒶𝒷𝒸", 3), "𝒶𝒷𝒸");
  assert.equal(shorten("x".repeat(10_000), 30).length, 30);
  assert.deepEqual(decades(-2, 1), [0.01, 0.1, 1, 10]);
  assert.equal(decades(-12, 3).length, 4);
});
