import assert from "node:assert/strict";
import { test } from "node:test";
import { Blocks } from "../../dev/page.mjs";
import { hostile, ring, withoutFunctions } from "../../dev/problems.mjs";
import { BlockReader, fromBase64 } from "../../src/format/blocks.ts";
import { checkHeader, Damaged } from "../../src/format/check.ts";
import type { BlockInfo } from "../../src/format/header.ts";
import { readData, stopTimes } from "../../src/model/data.ts";

const readerOf = (blocks: Blocks, base64 = blocks.base64()): BlockReader =>
  new BlockReader(fromBase64(base64), blocks.table as Record<string, BlockInfo>);
const textOf = ({ header, blocks }: { header: object; blocks: Blocks }): string => JSON.stringify({ ...header, blocks: blocks.table });

test("blocks come back as they were written, whatever their coding", async () => {
  const blocks = new Blocks();
  const floats = Array.from({ length: 257 }, (_, k) => Math.sin(k) * 10 ** (k % 40));
  blocks.add("f8", "f8", [257], floats, "zlib-shuffle");
  blocks.add("f4", "f4", [2, 3], [1, 2, 3, 4, 5, 6.5], "zlib-shuffle");
  blocks.add("u4", "u4", [4], [7, 3, 4294967295, 0], "zlib-delta");
  blocks.add("i4", "i4", [3], [-1, 2147483647, -2147483648], "zlib-delta");
  blocks.add("u2", "u2", [3], [65535, 0, 9]);
  blocks.add("none", "u1", [0], []);
  const reader = readerOf(blocks);
  assert.deepEqual([...(await reader.read("f8"))], floats);
  assert.deepEqual([...(await reader.read("f4"))], [1, 2, 3, 4, 5, 6.5]);
  assert.deepEqual([...(await reader.read("u4"))], [7, 3, 4294967295, 0]);
  assert.deepEqual([...(await reader.read("i4"))], [-1, 2147483647, -2147483648]);
  assert.deepEqual([...(await reader.read("u2"))], [65535, 0, 9]);
  assert.equal((await reader.read("none")).length, 0);
});

test("damaged blocks are refused in words", async () => {
  const blocks = new Blocks();
  blocks.add("a", "f8", [100], new Array(100).fill(1));
  assert.throws(() => fromBase64("%%%"), Damaged);
  await assert.rejects(readerOf(blocks, blocks.base64().slice(0, 8)).read("a"), /cut off/);
  blocks.table.a.shape = [99];
  await assert.rejects(readerOf(blocks).read("a"), /longer/);
  blocks.table.a.shape = [101];
  await assert.rejects(readerOf(blocks).read("a"), /shorter/);
  const junk = new Blocks();
  junk.add("a", "u1", [64], new Array(64).fill(1));
  junk.parts[0] = Buffer.from("not zlib at all");
  junk.table.a.length = junk.parts[0].length;
  await assert.rejects(readerOf(junk).read("a"), Damaged);
});

test("a page's data is read, in units of the view", async () => {
  const made = ring();
  const data = await readData(textOf(made), made.blocks.base64());
  assert.equal(data.views.length, 2);
  assert.equal(data.stops.length, 49);
  assert.ok(Math.max(...data.views[0].position) <= 1 && Math.min(...data.views[0].position) >= -1);
  assert.deepEqual([...data.partners.of(0, 7, 1)], [7]);
  assert.deepEqual([...data.partners.of(1, 7, 0)], [7]);
  assert.deepEqual([...data.partners.of(1, 59, 0)], []);
});

test("a header without functions, and one with hostile names, are read", async () => {
  for (const made of [withoutFunctions(), hostile()]) {
    const data = await readData(textOf(made), made.blocks.base64());
    assert.equal(data.views.length, 2);
    for (const view of data.views)
      assert.ok(
        (view.header.thumbnails ?? []).every((url) => url === null),
        "only real pictures are kept",
      );
  }
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test("damaged headers are refused in words that say where", () => {
  type Changed = { [key: string]: any };
  const broken = (change: (header: Changed) => void): (() => unknown) => {
    const made = ring();
    const header = JSON.parse(textOf(made)) as Changed;
    change(header);
    return () => checkHeader(header);
  };
  assert.throws(() => checkHeader(null), /header/);
  assert.throws(
    broken((h) => (h.format = "other")),
    /not a page/,
  );
  assert.throws(
    broken((h) => (h.version = 2)),
    /version/,
  );
  assert.throws(
    broken((h) => (h.views = [])),
    /at least one graph/,
  );
  assert.throws(
    broken((h) => (h.views[0].n = -1)),
    /views\[0\]\.n/,
  );
  assert.throws(
    broken((h) => (h.views[1].position = "nowhere")),
    /no block/,
  );
  assert.throws(
    broken((h) => (h.views[1].kind = h.views[1].i)),
    /kind/,
  );
  assert.throws(
    broken((h) => (h.views[0].before = h.views[1].before)),
    /shape \(60\) is needed/,
  );
  assert.throws(
    broken((h) => h.views[0].names.pop()),
    /60 entries/,
  );
  assert.throws(
    broken((h) => (h.times.least = 0)),
    /times/,
  );
  assert.throws(
    broken((h) => (h.heat.tolerance = 5)),
    /tolerance/,
  );
  assert.throws(
    broken((h) => (h.blocks["v0.i"].shape = [2 ** 20, 2 ** 20])),
    /too many/,
  );
  assert.throws(
    broken((h) => (h.blocks["v0.i"].coding = "rar")),
    /coding/,
  );
});

test("edges that name no vertex are refused", async () => {
  const made = ring();
  const { header } = made;
  const extra = made.blocks.add("bad", "u4", [header.views[0].m], new Array(header.views[0].m).fill(60));
  header.views[0].j = extra;
  await assert.rejects(readData(textOf(made), made.blocks.base64()), /only 60/);
});

test("stops are 0 and times spaced evenly in log", () => {
  const stops = stopTimes({ least: 0.1, most: 10, count: 3, unit: 1, coupled: [] });
  assert.deepEqual(
    stops.map((t) => Number(t.toFixed(12))),
    [0, 0.1, 1, 10],
  );
  assert.deepEqual(stopTimes({ least: 2, most: 2, count: 1, unit: 1, coupled: [] }), [0, 2]);
});
