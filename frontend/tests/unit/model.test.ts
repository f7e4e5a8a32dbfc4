import assert from "node:assert/strict";
import { test } from "node:test";
import { hostile, ring, weighed } from "../../dev/problems.mjs";
import { changedRows, csvCell, filterRows, orderRows, writeCsv } from "../../src/model/changes.ts";
import { believedOf, readData, type Data } from "../../src/model/data.ts";
import { readLink, writeLink } from "../../src/model/link.ts";
import { hottest } from "../../src/model/nearest.ts";
import { searchItems } from "../../src/model/search.ts";
import { heatAtStart, readSource, startsIn } from "../../src/model/source.ts";
import type { State } from "../../src/model/state.ts";
import { home } from "../../src/scene/camera.ts";
import { IDENTITY } from "../../src/scene/algebra.ts";

const load = (made: { header: object; blocks: { table: object; base64(): string } }): Promise<Data> =>
  readData(JSON.stringify({ ...made.header, blocks: made.blocks.table }), made.blocks.base64());

const data = await load(ring());
const homes = data.views.map(() => home(IDENTITY));
const state: State = {
  view: null,
  stop: 3,
  source: { type: "function", index: 1 },
  shown: "both",
  theme: "auto",
  map: "heat",
  range: "frame",
  stretch: "root",
  edges: "all",
  linked: false,
  cameras: homes,
  edge: null,
  playing: false,
};

test("a link restores what it was made of", () => {
  const other: State = {
    ...state,
    view: 1,
    stop: 48,
    source: { type: "vertex", view: 1, vertex: 59 },
    shown: "after",
    theme: "dark",
    map: "viridis",
    range: "fixed",
    stretch: "log",
    edges: "changed",
    linked: true,
    edge: { view: 1, edge: 5 },
    cameras: [homes[0], { center: [0.25, -0.5, 0], zoom: 3.5, rotation: [0, 0, 0, 1] }],
  };
  for (const original of [state, other]) {
    const restored = readLink(`#${writeLink(original, homes)}`, data, homes);
    for (const key of ["view", "stop", "source", "shown", "edge"] as const)
      if (original[key] !== null || key === "view") assert.deepEqual(restored[key], original[key], key);
    assert.deepEqual(restored.cameras, original.cameras);
    for (const key of ["theme", "map", "range", "stretch", "edges", "linked"] as const)
      assert.equal(restored[key] ?? state[key], original[key], key);
  }
});

test("unknown and hostile values in a link are ignored", () => {
  const attacks = [
    "view=99",
    "view=-1",
    "time=1e9",
    "time=NaN",
    "time=49",
    "source=v:0:60",
    "source=f:3",
    "source=v:9:0",
    "source=<script>",
    "shown=all",
    "theme=javascript:1",
    "map=__proto__",
    "edge=0:9999",
    "camera0=1,2",
    "camera0=1,2,3,NaN,0,0,0,1",
    "camera0=0,0,0,1,0,0,0,0",
    "camera0=1e300,0,0,1,0,0,0,1",
    "=",
    "&&&",
    "%00",
    "__proto__=1",
    "a".repeat(100_000),
  ];
  for (const attack of attacks) {
    const { cameras, ...found } = readLink(`#${attack}`, data, homes);
    assert.deepEqual(found, {}, attack.slice(0, 40));
    assert.deepEqual(cameras, homes);
  }
});

test("sources are read only if they exist", () => {
  assert.deepEqual(readSource("f:0", data), { type: "function", index: 0 });
  assert.deepEqual(readSource("v:1:59", data), { type: "vertex", view: 1, vertex: 59 });
  for (const bad of ["f:3", "v:0", "v:2:0", "v:0:60", "f:0:1", "g:0", "f:1.5", ""]) assert.equal(readSource(bad, data), null, bad);
});

test("a vertex and its partners start with the same amount of heat; without a partner there is none", () => {
  const total = (f: Float64Array | null): number => (f ?? new Float64Array()).reduce((sum, value) => sum + value, 0);
  const paired = { type: "vertex", view: 0, vertex: 4 } as const;
  assert.equal(total(heatAtStart(data, paired, 0)), 1);
  assert.equal(total(heatAtStart(data, paired, 1)), 1);
  const single = { type: "vertex", view: 0, vertex: 58 } as const;
  assert.deepEqual(startsIn(data, single, 1), []);
  assert.equal(heatAtStart(data, single, 1), null);
});

test("how far views are believed about an item is told where it says something", async () => {
  const made = await load(weighed());
  const told = (vertex: number): [string, number][] =>
    believedOf(made, made.views[1], vertex).map(({ view, weight }) => [view.name, weight]);
  assert.deepEqual(told(6), [
    ["images", 0.5],
    ["words", 0.375],
    ["sounds", 0.125],
  ]);
  assert.deepEqual(told(7), []);
  assert.deepEqual(told(8), [
    ["images", 0.75],
    ["words", 0.25],
  ]);
  assert.deepEqual(believedOf(data, data.views[0], 6), []);
  const damaged = weighed();
  damaged.header.views.pop();
  await assert.rejects(load(damaged), /views\[0\]\.believed.*\(60, 2\).*\(60, 3\)/);
});

test("rows are filtered by kind, view and name, and ordered", () => {
  const rows = changedRows(data.views);
  const all = new Set([1, 2, 3, 4]);
  assert.equal(
    rows.length,
    data.views.reduce((sum, { kind }) => sum + kind.filter((k) => k !== 0).length, 0),
  );
  const cut = filterRows(rows, data.views, { text: "", kinds: new Set([1]), view: null });
  assert.deepEqual(
    cut.map(({ view, edge }) => [view, data.views[view].i[edge], data.views[view].j[edge]]),
    [
      [1, 5, 35],
      [1, 12, 40],
      [1, 20, 50],
    ],
  );
  assert.equal(
    filterRows(rows, data.views, { text: " ITEM 35 ", kinds: all, view: null }).length,
    1 +
      rows.filter(
        ({ view, edge }) => [data.views[view].i[edge], data.views[view].j[edge]].includes(35) && data.views[view].kind[edge] !== 1,
      ).length,
  );
  assert.ok(filterRows(rows, data.views, { text: "", kinds: all, view: 0 }).every(({ view }) => view === 0));
  const byChange = orderRows(rows, data.views, { column: "change", descending: true }).map(({ view, edge }) =>
    Math.abs(data.views[view].weights.after[edge] - data.views[view].weights.before[edge]),
  );
  assert.deepEqual(
    byChange,
    [...byChange].sort((a, b) => b - a),
  );
  const byName = orderRows(rows, data.views, { column: "from", descending: false }).map(({ view, edge }) => data.views[view].i[edge]);
  assert.deepEqual(
    byName,
    [...byName].sort((a, b) => a - b),
    "item 9 is before item 10",
  );
});

test("100,000 rows are ordered and filtered soon enough to type", () => {
  const views = data.views.slice(0, 1);
  const rows = Array.from({ length: 100_000 }, (_, k) => ({ view: 0, edge: k % 60 }));
  const ordered = orderRows(filterRows(rows, views, { text: "item", kinds: new Set([0, 1, 2, 3, 4]), view: null }), views, {
    column: "from",
    descending: true,
  });
  assert.equal(ordered.length, 100_000);
});

test("CSV survives quotes, commas and lines, and disarms formulas", async () => {
  assert.equal(csvCell('a "b", c'), '"a ""b"", c"');
  assert.equal(csvCell("two\nlines"), '"two\nlines"');
  assert.equal(csvCell("=1+1"), "'=1+1");
  assert.equal(csvCell("plain"), "plain");
  const bad = await load(hostile());
  const csv = writeCsv(changedRows(bad.views), bad.views);
  for (const line of csv.split("\r\n")) assert.ok(!/(^|,)[=+@]/.test(line.replace(/"(?:[^"]|"")*"/g, "")), line.slice(0, 80));
});

test("search finds beginnings first, then parts, then labels; numbers by #", () => {
  const names = (text: string, most = 5): string[] => searchItems(data.views.slice(0, 1), text, most).map(({ vertex }) => `item ${vertex}`);
  assert.deepEqual(names("item 5", 3), ["item 5", "item 50", "item 51"]);
  assert.deepEqual(names("#17"), ["item 17"]);
  assert.deepEqual(names("9", 2), ["item 9", "item 19"]);
  assert.equal(names("winter", 4)[0], "item 45");
  assert.deepEqual(names("nothing"), []);
  assert.deepEqual(names("  "), []);
});

test("the hottest are in order, without the source", () => {
  assert.deepEqual(
    hottest([0.1, 0.9, 0.3, 0, 0.5, -1], 3, new Set([1])).map(({ vertex }) => vertex),
    [4, 2, 0],
  );
  assert.deepEqual(hottest([0, 0], 3, new Set()), []);
});
