// Synthetic results: a ring with short cuts, graphs of any size, a surface, hostile names, and damaged ones.
import { Blocks } from "./page.mjs";

export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    let t = state ^ (state >>> 12);
    t = Math.imul(t, 0x297a2d39);
    return ((t ^ (t >>> 15)) >>> 0) / 2 ** 32;
  };
}

/** Edges i < j, sorted, without repetition. */
function sortedEdges(pairs) {
  const keys = new Map();
  for (const [a, b, w] of pairs) if (a !== b) keys.set(Math.min(a, b) * 2 ** 26 + Math.max(a, b), w);
  return [...keys].sort((x, y) => x[0] - y[0]).map(([key, w]) => [Math.floor(key / 2 ** 26), key % 2 ** 26, w]);
}

function addView(blocks, k, view) {
  const { n, edges, after, kind, position, dimensions, faces, functions } = view;
  const m = edges.length;
  const q = functions?.length ?? 0;
  const block = (name, ...rest) => blocks.add(`v${k}.${name}`, ...rest);
  return {
    name: view.name,
    n,
    m,
    whole: view.whole ?? { n, m },
    dimensions,
    layout: "given",
    position: block("position", "f4", [n, dimensions], position, "zlib-shuffle"),
    faces: faces ? block("faces", "u4", [faces.length / 3, 3], faces, "zlib-delta") : null,
    i: block(
      "i",
      "u4",
      [m],
      edges.map((e) => e[0]),
      "zlib-delta",
    ),
    j: block(
      "j",
      "u4",
      [m],
      edges.map((e) => e[1]),
      "zlib-delta",
    ),
    before: block(
      "before",
      "f8",
      [m],
      edges.map((e) => e[2]),
      "zlib-shuffle",
    ),
    after: block("after", "f8", [m], after, "zlib-shuffle"),
    kind: block("kind", "u1", [m], kind),
    names: view.names ?? null,
    labels: view.labels ? { codes: block("codes", "i4", [n], view.labels.codes), classes: view.labels.classes } : null,
    believed: view.believed ? block("believed", "f4", [n, view.believed.length / n], view.believed, "zlib-shuffle") : null,
    thumbnails: view.thumbnails ?? null,
    functions:
      q > 0
        ? block(
            "functions",
            "f4",
            [q, n],
            functions.flatMap((f) => [...f]),
            "zlib-shuffle",
          )
        : null,
  };
}

const COUNT = 48;

function headerOf(title, blocks, views, more = {}) {
  const curve = Array.from({ length: 40 }, (_, k) => 0.01 * 10 ** (k / 10));
  return {
    format: "cotherm-viewer",
    version: 1,
    title,
    made_by: "cotherm 0.1.0",
    notes: [],
    views: views.map((view, k) => addView(blocks, k, view)),
    functions: (views[0].functions ?? []).map((_, k) => ({ name: `Landmark ${k + 1}` })),
    pairs: [],
    times: { least: 0.05, most: 200, count: COUNT, unit: 1, coupled: [1, 5, 10] },
    heat: { tolerance: 1e-6, frames: null },
    summary: {
      cost: 3.1415,
      distance: 2.02,
      coupling: 1.1e-6,
      alpha: 1e6,
      status: "converged",
      seconds: 1.24,
      method: "coupling of 2 graphs at 3 times",
      text: "Coupling of 2 graphs\n  cost 3.1415\n  12 edges cut",
    },
    curve: {
      times: curve,
      before: curve.map((t) => 0.4 * t * Math.exp(-t / 8) + 1e-4),
      after: curve.map((t) => 4e-3 * t * Math.exp(-t / 14) + 3e-5),
    },
    agreement: views.length > 1 ? [{ views: [0, 1], pairs: 120, before: 0.41, after: 0.78 }] : [],
    history: [
      { cost: 20, coupling: 0.1 },
      { cost: 3.14, coupling: 1e-6 },
    ],
    checks: [],
    ...more,
  };
}

/** Cuts some edges, and weakens, strengthens and adds some. */
function change(edges, random, part = 0.05) {
  const after = [];
  const kind = [];
  for (const [, , w, planted] of edges) {
    const dice = random();
    if (w === 0) (after.push(0.6), kind.push(4));
    else if (planted || dice < part / 4) (after.push(0), kind.push(1));
    else if (dice < part / 2) (after.push(w * 0.4), kind.push(2));
    else if (dice < part) (after.push(w * 1.8), kind.push(3));
    else (after.push(w), kind.push(0));
  }
  return { after, kind };
}

const bump = (n, center, width) =>
  Float32Array.from({ length: n }, (_, v) => Math.exp(-((Math.min(Math.abs(v - center), n - Math.abs(v - center)) / width) ** 2)));

/** A ring, and the same with short cuts that coupling cuts. */
export function ring(n = 60) {
  const blocks = new Blocks();
  const names = Array.from({ length: n }, (_, v) => `item ${v}`);
  const labels = { codes: names.map((_, v) => Math.floor((4 * v) / n)), classes: ["spring", "summer", "autumn", "winter"] };
  const functions = [0, 1, 2].map((k) => bump(n, Math.round((k * n) / 3), 3));
  const circle = Array.from({ length: n }, (_, v) => [Math.cos((2 * Math.PI * v) / n), Math.sin((2 * Math.PI * v) / n)]).flat();
  const around = Array.from({ length: n }, (_, v) => [v, (v + 1) % n, 1]);
  const cuts = [
    [5, 35, 0.8],
    [12, 40, 0.6],
    [20, 50, 0.9],
  ].filter(([a, b]) => b < n);
  const first = sortedEdges(around);
  const second = sortedEdges([...around, ...cuts, [2, 4, 0]]);
  const isCut = ([a, b]) => cuts.some(([c, d]) => a === c && b === d);
  const view = (name, edges) => {
    const after = edges.map((e, k) => (isCut(e) ? 0 : e[2] === 0 ? 0.4 : k % 11 === 3 ? 0.5 * e[2] : k % 13 === 5 ? 1.7 * e[2] : e[2]));
    const kind = edges.map((e, k) => (isCut(e) ? 1 : e[2] === 0 ? 4 : k % 11 === 3 ? 2 : k % 13 === 5 ? 3 : 0));
    return { name, n, edges, after, kind, position: circle, dimensions: 2, names, labels, functions };
  };
  const views = [view("Ring", first), view("Ring with short cuts", second)];
  const header = headerOf("Ring: short cuts are cut", blocks, views);
  const all = Array.from({ length: n - 5 }, (_, v) => v);
  header.pairs = [{ views: [0, 1], a: blocks.add("p.a", "u4", [all.length], all), b: blocks.add("p.b", "u4", [all.length], all) }];
  return { header, blocks };
}

/** Three rings of the same items, and how far each is believed about them; about item 7 nothing is known. */
export function weighed(n = 60) {
  const blocks = new Blocks();
  const circle = Array.from({ length: n }, (_, v) => [Math.cos((2 * Math.PI * v) / n), Math.sin((2 * Math.PI * v) / n)]).flat();
  const edges = sortedEdges(Array.from({ length: n }, (_, v) => [v, (v + 1) % n, 1]));
  const believed = Array.from({ length: n }, (_, v) => (v === 7 ? [0, 0, 0] : v === 8 ? [0.75, 0.25, 0] : [0.5, 0.375, 0.125])).flat();
  const after = edges.map((e) => e[2]);
  const kind = edges.map(() => 0);
  const view = (name) => ({ name, n, edges, after, kind, position: circle, dimensions: 2, functions: [bump(n, 0, 3)], believed });
  return { header: headerOf("Three views", blocks, ["images", "words", "sounds"].map(view)), blocks };
}

/** A sheet of n points with about 2·degree neighbors each, rolled up in space if three dimensions are asked for. */
function sheet(name, n, degree, dimensions, seed, random = randomNumbers(seed)) {
  const side = Math.ceil(Math.sqrt(n));
  const place = Array.from({ length: n }, (_, v) => [(v % side) + 0.8 * random(), Math.floor(v / side) + 0.8 * random()]);
  const position = place.flatMap(([x, y]) => {
    const [u, v] = [x / side, y / side];
    if (dimensions === 2) return [u + 0.03 * Math.sin(9 * v), v + 0.03 * Math.cos(7 * u)];
    const angle = 1.5 * Math.PI * (1 + 1.6 * u);
    return [(angle * Math.cos(angle)) / 12, 1.6 * v, (angle * Math.sin(angle)) / 12];
  });
  const offsets = [];
  for (let dx = 0; dx <= 4; dx++) for (let dy = -4; dy <= 4; dy++) if (dx > 0 || dy > 0) offsets.push([dx, dy]);
  offsets.sort((a, b) => Math.hypot(...a) - Math.hypot(...b));
  const pairs = [];
  for (let v = 0; v < n; v++)
    for (const [dx, dy] of offsets.slice(0, degree)) {
      const [x, y] = [(v % side) + dx, Math.floor(v / side) + dy];
      const other = y * side + x;
      if (x < side && y >= 0 && other < n)
        pairs.push([v, other, Math.exp(-0.3 * Math.hypot(place[v][0] - place[other][0], place[v][1] - place[other][1]) ** 2)]);
    }
  const edges = sortedEdges(pairs);
  const far = Math.round(n / 400);
  const planted = new Set();
  for (let k = 0; k < far; k++) {
    const a = Math.floor(random() * n);
    const b = Math.floor(random() * n);
    if (a !== b) (edges.push([Math.min(a, b), Math.max(a, b), 0.7, true]), planted.add(k));
  }
  edges.sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  const functions = [0, 1, 2, 3].map((k) => {
    const [cx, cy] = [side * (0.2 + 0.2 * k), side * (0.25 + 0.15 * ((k * 3) % 4))];
    return Float32Array.from(place, ([x, y]) => Math.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (0.002 * n)));
  });
  return { name, n, edges, ...change(edges, random, 0.02), position, dimensions, functions };
}

export function large(n, degree, dimensions = 2, withNames = false) {
  const blocks = new Blocks();
  const views = [sheet("First view", n, degree, dimensions, 1), sheet("Second view", n, degree, dimensions, 2)];
  if (withNames) for (const view of views) view.names = Array.from({ length: n }, (_, v) => `gene ${v}`);
  const header = headerOf(`Two views of ${n.toLocaleString("en-US")} items`, blocks, views);
  const count = Math.floor(n / 2);
  const all = Array.from({ length: count }, (_, v) => v);
  header.pairs = [
    { views: [0, 1], a: blocks.add("p.a", "u4", [count], all, "zlib-delta"), b: blocks.add("p.b", "u4", [count], all, "zlib-delta") },
  ];
  header.times = { ...header.times, most: 60 };
  return { header, blocks };
}

/** A smooth closed surface. */
export function surface(rings = 60, sectors = 80) {
  const blocks = new Blocks();
  const random = randomNumbers(7);
  const position = [];
  for (let r = 0; r < rings; r++)
    for (let s = 0; s < sectors; s++) {
      const [u, v] = [(Math.PI * (r + 0.5)) / rings, (2 * Math.PI * s) / sectors];
      const radius = 1 + 0.18 * Math.sin(3 * v) * Math.sin(u) ** 2 + 0.25 * Math.cos(2 * u);
      position.push(0.7 * radius * Math.sin(u) * Math.cos(v), 1.3 * radius * Math.cos(u), 0.7 * radius * Math.sin(u) * Math.sin(v));
    }
  const at = (r, s) => r * sectors + ((s + sectors) % sectors);
  const faces = [];
  const pairs = [];
  for (let r = 0; r < rings; r++)
    for (let s = 0; s < sectors; s++) {
      pairs.push([at(r, s), at(r, s + 1), 0.5 + random()]);
      if (r + 1 === rings) continue;
      pairs.push([at(r, s), at(r + 1, s), 0.5 + random()], [at(r, s), at(r + 1, s + 1), 0.5 + random()]);
      faces.push(at(r, s), at(r + 1, s), at(r + 1, s + 1), at(r, s), at(r + 1, s + 1), at(r, s + 1));
    }
  const n = rings * sectors;
  const edges = sortedEdges(pairs);
  const functions = [0, 1].map((k) =>
    Float32Array.from({ length: n }, (_, v) =>
      Math.exp(-(((position[3 * v] - 0.4) ** 2 + (position[3 * v + 1] - (k ? -1 : 1)) ** 2 + (position[3 * v + 2] - 0.3) ** 2) / 0.05)),
    ),
  );
  const make = (name) => ({ name, n, edges, ...change(edges, random, 0.03), position, dimensions: 3, faces, functions });
  const header = headerOf("A surface in two poses", blocks, [make("Standing"), make("Sitting")]);
  header.times = { ...header.times, most: 400 };
  return { header, blocks };
}

export const ATTACKS = [
  "<script>window.attacked = 1</script>",
  "</script><script>window.attacked = 1</script>",
  "<img src=x onerror=window.attacked=1>",
  '" onmouseover="window.attacked=1',
  "'><svg onload=window.attacked=1>",
  "${window.attacked=1}{{constructor.constructor('window.attacked=1')()}}",
  "javascript:window.attacked=1",
  "\u202Egnp.exe\u2028\u2029\u0000\uFEFF\uD800 lone",
  "𝒽𝑒𝒶𝓉 Z̸̡͝a̷l̶g̵o̴ 👩‍👩‍👧‍👦 שלום مرحبا",
  '=HYPERLINK("http://example.invalid","x")',
  "<!--<script>",
  "long ".repeat(2000),
];

export function hostile() {
  const made = ring(60);
  const { header } = made;
  const name = (v) => ATTACKS[v % ATTACKS.length];
  header.title = ATTACKS[1];
  header.notes = [ATTACKS[0], ATTACKS[2]];
  header.functions = header.functions.map((_, k) => ({ name: ATTACKS[k] }));
  header.summary = { ...header.summary, status: ATTACKS[2], text: ATTACKS[4], method: ATTACKS[3] };
  header.views.forEach((view, k) => {
    view.name = ATTACKS[k];
    view.names = Array.from({ length: view.n }, (_, v) => name(v));
    view.labels.classes = ATTACKS.slice(0, 4);
    view.thumbnails = Array.from({ length: view.n }, (_, v) =>
      v === 0 ? "javascript:window.attacked=1" : v === 1 ? "data:image/svg+xml,<svg onload='window.attacked=1'/>" : null,
    );
  });
  header["__proto__"] = { polluted: true };
  return made;
}

export function withoutFunctions() {
  const made = ring(24);
  made.header.functions = [];
  for (const view of made.header.views) view.functions = null;
  made.header.pairs = [];
  made.header.curve = null;
  made.header.agreement = [];
  return made;
}

/** Heat at a stop in `reduced`, as whole numbers of 16 bits. */
export const storedValue = (view, after, index, stop, vertex) => (stop * 7919 + vertex * 104729 + index * 31 + view * 17 + after) % 65536;

/** A page that shows parts of graphs, with stored heat of the whole ones. */
export function reduced() {
  const made = ring();
  const { header, blocks } = made;
  const stops = header.times.count + 1;
  header.notes = ["60 of 6,000 vertices are shown."];
  header.heat.frames = header.views.flatMap((view, k) =>
    ["before", "after"].flatMap((graph, g) =>
      header.functions.map((_, a) => {
        const values = Array.from({ length: stops * view.n }, (_, at) => storedValue(k, g, a, Math.floor(at / view.n), at % view.n));
        const name = blocks.add(`frames.${k}.${graph}.${a}`, "u2", [stops, view.n], values, "zlib-delta");
        return { view: k, graph, function: a, values: name, scale: new Array(stops).fill(2), offset: new Array(stops).fill(0.5) };
      }),
    ),
  );
  for (const view of header.views) view.whole = { n: 6000, m: 9000, counts: { cut: 7, weakened: 6, strengthened: 5, "switched on": 4 } };
  return made;
}
