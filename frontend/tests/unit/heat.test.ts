import assert from "node:assert/strict";
import { test } from "node:test";
import { scaledBessel } from "../../src/heat/bessel.ts";
import { heatSeries } from "../../src/heat/chebyshev.ts";
import { HeatEngine } from "../../src/heat/engine.ts";
import { heatFlow, type Frame } from "../../src/heat/flow.ts";
import { makeLaplacian, type Laplacian } from "../../src/heat/laplacian.ts";
import type { FrameMessage } from "../../src/heat/messages.ts";
import { denseHeat, denseLaplacian, eigen, randomNumbers } from "./reference.ts";

type Edge = [number, number, number];

const graphOf = (n: number, edges: Edge[]): Laplacian =>
  makeLaplacian(
    n,
    Uint32Array.from(edges, (e) => e[0]),
    Uint32Array.from(edges, (e) => e[1]),
    Float64Array.from(edges, (e) => e[2]),
  );

function randomEdges(n: number, seed: number): Edge[] {
  const random = randomNumbers(seed);
  const edges: Edge[] = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) if (random() < 0.3) edges.push([i, j, random() < 0.1 ? 0 : 2 * random()]);
  return edges;
}

const framesOf = (L: Laplacian, f: Float64Array, times: number[], tolerance: number): Frame[] =>
  [...heatFlow(L, f, times, tolerance)].filter((frame) => frame !== null);

const sum = (values: ArrayLike<number>): number => Array.from(values).reduce((total, value) => total + value, 0);
const norm = (values: ArrayLike<number>): number => Math.sqrt(sum(Array.from(values, (value) => value * value)));
const largestDifference = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (value, k) => Math.abs(value - b[k])));

test("scaled Bessel functions are those of tables", () => {
  // scipy.special.ive(k, z)
  const known = [
    [0, 1, 0.46575960759364043],
    [1, 1, 0.2079104153497085],
    [0, 10, 0.12783333716342862],
    [1, 10, 0.12126268138445552],
  ];
  for (const [k, z, value] of known) assert.ok(Math.abs(scaledBessel(z)[k] - value) < 1e-15);
});

test("scaled Bessel functions are stable for tiny and huge arguments", () => {
  for (const z of [1e-300, 1e-12, 1e-3, 1, 700, 1e4, 1e6]) {
    const values = scaledBessel(z);
    assert.ok(
      values.every((value) => Number.isFinite(value) && value >= 0),
      `at ${z}`,
    );
    assert.ok(z < 1e-9 || values[values.length - 1] < 1e-16, `at ${z} the last is ${values[values.length - 1]}`);
    // Asymptotically e^{-z} I_0(z) = 1/√(2πz) (1 + 1/(8z) + …)
    if (z >= 700) assert.ok(Math.abs(values[0] * Math.sqrt(2 * Math.PI * z) - 1 - 1 / (8 * z)) < 1 / z ** 2 + 1e-12);
  }
});

test("the series is within its tolerance everywhere, and 1 at 0", () => {
  const bound = 7;
  for (const tolerance of [1e-3, 1e-6, 1e-10])
    for (const time of [1e-4, 0.1, 1, 30, 1000]) {
      const series = heatSeries(time, bound, tolerance);
      const at = (x: number): number => series.reduce((total, c, k) => total + c * Math.cos(k * Math.acos(1 - (2 * x) / bound)), 0);
      for (let k = 0; k <= 200; k++) {
        const x = (bound * k) / 200;
        assert.ok(Math.abs(at(x) - Math.exp(-time * x)) <= tolerance + 1e-13, `time ${time}, x ${x}`);
      }
      assert.ok(Math.abs(at(0) - 1) < 1e-13);
    }
});

test("no eigenvalue exceeds the bound", () => {
  for (const seed of [1, 2, 3]) {
    const edges = randomEdges(18, seed);
    const { values } = eigen(denseLaplacian(18, edges));
    assert.ok(Math.max(...values) <= graphOf(18, edges).bound + 1e-9);
  }
});

test("heat is that of the dense exponential at all times", () => {
  const n = 24;
  const times = [0, 1e-3, 0.1, 1, 3, 10, 100];
  for (const seed of [4, 5]) {
    const edges = randomEdges(n, seed);
    const dense = denseLaplacian(n, edges);
    const random = randomNumbers(seed + 100);
    for (const f of [
      Float64Array.from({ length: n }, (_, v) => (v === 3 ? 1 : 0)),
      Float64Array.from({ length: n }, () => random() - 0.5),
    ]) {
      const frames = framesOf(graphOf(n, edges), f, times, 1e-8);
      assert.equal(frames.length, times.length);
      for (const { stop, heat } of frames) assert.ok(largestDifference(heat, denseHeat(dense, f, times[stop])) <= 1e-8 * norm(f) + 1e-12);
    }
  }
});

test("heat is kept to rounding, however coarse the series", () => {
  const n = 300;
  const edges = randomEdges(n, 6).filter((_, k) => k % 20 === 0);
  const f = Float64Array.from({ length: n }, (_, v) => (v === 7 ? 1 : 0));
  for (const { heat } of framesOf(graphOf(n, edges), f, [0, 0.5, 5, 50, 500], 1e-2)) assert.ok(Math.abs(sum(heat) - 1) < 1e-12);
});

test("a vertex without edges keeps its heat, and a graph without edges all of it", () => {
  const [frame] = framesOf(graphOf(3, [[0, 1, 1]]), Float64Array.of(0, 0, 1), [5], 1e-8);
  assert.ok(Math.abs(frame.heat[2] - 1) < 1e-12);
  const frames = framesOf(graphOf(2, []), Float64Array.of(0.25, 1), [0, 9], 1e-8);
  assert.deepEqual(
    frames.map(({ heat }) => [...heat]),
    [
      [0.25, 1],
      [0.25, 1],
    ],
  );
});

test("short times come first", () => {
  const stops = framesOf(graphOf(40, randomEdges(40, 8)), new Float64Array(40).fill(1), [0, 0.01, 0.1, 1, 10, 100], 1e-6).map(
    ({ stop }) => stop,
  );
  assert.deepEqual(stops, [0, 1, 2, 3, 4, 5]);
});

test("the engine forgets what is no longer looked at, and finishes what was asked besides", async () => {
  const received: FrameMessage[] = [];
  const engine = new HeatEngine((frame) => received.push(frame), 1);
  const edges = randomEdges(60, 9);
  const parts = {
    i: Uint32Array.from(edges, (e) => e[0]),
    j: Uint32Array.from(edges, (e) => e[1]),
    w: Float64Array.from(edges, (e) => e[2]),
  };
  engine.receive({ type: "graph", key: "a", n: 60, ...parts });
  const f = new Float64Array(60).fill(1);
  const flow = { type: "flow" as const, key: "a", f, times: [0, 1, 1000], tolerance: 1e-6, single: false };
  engine.receive({ ...flow, job: 1, idle: false });
  engine.receive({ ...flow, job: -1, idle: true });
  engine.receive({ type: "cancel" });
  engine.receive({ ...flow, job: 2, idle: false, single: true });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const count = (job: number): number => received.filter((frame) => frame.job === job).length;
  assert.ok(count(1) < 3);
  assert.equal(count(2), 3);
  assert.equal(count(-1), 3);
  assert.ok(received.find(({ job }) => job === 2)!.heat instanceof Float32Array);
});
