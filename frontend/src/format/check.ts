// Turns parsed JSON into a Header or throws a Damaged error that says what is wrong and where.
import type {
  Agreement,
  BlockInfo,
  Check,
  Coding,
  Curve,
  Dtype,
  Header,
  Labels,
  PairsHeader,
  StoredFrames,
  Summary,
  Times,
  ViewHeader,
  Which,
  Whole,
} from "./header.ts";

export class Damaged extends Error {}

type Json = Record<string, unknown>;

const fail = (where: string, needed: string): never => {
  throw new Damaged(`${where}: ${needed}`);
};

const record = (x: unknown, where: string): Json =>
  typeof x === "object" && x !== null && !Array.isArray(x) ? (x as Json) : fail(where, "an object is needed");

const text = (x: unknown, where: string): string => (typeof x === "string" ? x : fail(where, "a text is needed"));

const finite = (x: unknown, where: string): number =>
  typeof x === "number" && Number.isFinite(x) ? x : fail(where, "a finite number is needed");

const finiteOrNull = (x: unknown, where: string): number | null => (x === null || x === undefined ? null : finite(x, where));

const whole = (x: unknown, where: string, least = 0, most = Number.MAX_SAFE_INTEGER): number => {
  const value = finite(x, where);
  if (!Number.isInteger(value) || value < least || value > most) fail(where, `an integer from ${least} to ${most} is needed, not ${value}`);
  return value;
};

const list = <T>(x: unknown, where: string, item: (value: unknown, where: string) => T): T[] =>
  Array.isArray(x) ? x.map((value, k) => item(value, `${where}[${k}]`)) : fail(where, "a list is needed");

const listOrEmpty = <T>(x: unknown, where: string, item: (value: unknown, where: string) => T): T[] =>
  x === null || x === undefined ? [] : list(x, where, item);

const orNull = <T>(x: unknown, where: string, item: (value: unknown, where: string) => T): T | null =>
  x === null || x === undefined ? null : item(x, where);

const oneOf = <T extends string>(x: unknown, where: string, allowed: readonly T[]): T =>
  allowed.includes(x as T) ? (x as T) : fail(where, `one of ${allowed.join(", ")} is needed`);

const DTYPES: readonly Dtype[] = ["f4", "f8", "u4", "i4", "u2", "u1"];
const CODINGS: readonly Coding[] = ["zlib", "zlib-delta", "zlib-shuffle"];
const GRAPHS: readonly Which[] = ["before", "after"];
/** Refuses sizes no page of 25 MB can hold, before any memory is asked for. */
const MOST_VALUES = 2 ** 28;

const block = (x: unknown, where: string): BlockInfo => {
  const b = record(x, where);
  const shape = list(b.shape, `${where}.shape`, (value, at) => whole(value, at));
  if (shape.reduce((product, side) => product * side, 1) > MOST_VALUES) fail(`${where}.shape`, "too many values");
  return {
    dtype: oneOf(b.dtype, `${where}.dtype`, DTYPES),
    shape,
    offset: whole(b.offset, `${where}.offset`),
    length: whole(b.length, `${where}.length`),
    coding: oneOf(b.coding, `${where}.coding`, CODINGS),
  };
};

const blockTable = (x: unknown): Record<string, BlockInfo> => {
  const table: Record<string, BlockInfo> = Object.create(null);
  for (const [name, value] of Object.entries(record(x, "blocks"))) table[name] = block(value, `blocks.${name}`);
  return table;
};

/** Checks names of blocks against their shapes. */
class Blocks {
  constructor(private readonly table: Record<string, BlockInfo>) {}

  readonly named = (x: unknown, where: string, shape: (number | null)[], dtypes: readonly Dtype[]): string => {
    const name = text(x, where);
    const info = this.table[name];
    if (!info) return fail(where, `there is no block ${JSON.stringify(name)}`);
    const fits = info.shape.length === shape.length && shape.every((side, k) => side === null || side === info.shape[k]);
    if (!fits) fail(where, `a block of shape (${shape.map((side) => side ?? "any").join(", ")}) is needed, not (${info.shape.join(", ")})`);
    if (!dtypes.includes(info.dtype)) fail(where, `a block of ${dtypes.join(" or ")} is needed, not ${info.dtype}`);
    return name;
  };
}

const THUMBNAIL = /^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/=]*$/;

const thumbnail = (x: unknown): string | null => (typeof x === "string" && THUMBNAIL.test(x) ? x : null);

const ofLength = <T>(items: T[], length: number, where: string): T[] =>
  items.length === length ? items : fail(where, `${length} entries are needed, not ${items.length}`);

const labelsOf = (x: unknown, where: string, n: number, blocks: Blocks): Labels => {
  const l = record(x, where);
  return { codes: blocks.named(l.codes, `${where}.codes`, [n], ["i4"]), classes: list(l.classes, `${where}.classes`, text) };
};

const wholeOf = (w: Json, where: string): Whole => {
  const counts = orNull(w.counts, `${where}.counts`, record);
  const checked = counts && Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, whole(count, `${where}.counts`)]));
  return { n: whole(w.n, `${where}.n`), m: whole(w.m, `${where}.m`), counts: checked };
};

const viewOf = (x: unknown, where: string, count: number, functions: number, blocks: Blocks): ViewHeader => {
  const v = record(x, where);
  const at = (key: string): string => `${where}.${key}`;
  const n = whole(v.n, at("n"), 1);
  const m = whole(v.m, at("m"));
  const dimensions = whole(v.dimensions, at("dimensions"), 2, 3) as 2 | 3;
  const weights: Dtype[] = ["f4", "f8"];
  return {
    name: text(v.name, at("name")),
    n,
    m,
    whole: wholeOf(orNull(v.whole, at("whole"), record) ?? { n, m }, at("whole")),
    dimensions,
    layout: typeof v.layout === "string" ? v.layout : "given",
    position: blocks.named(v.position, at("position"), [n, dimensions], weights),
    faces: orNull(v.faces, at("faces"), (name, place) => blocks.named(name, place, [null, 3], ["u4"])),
    i: blocks.named(v.i, at("i"), [m], ["u4"]),
    j: blocks.named(v.j, at("j"), [m], ["u4"]),
    before: blocks.named(v.before, at("before"), [m], weights),
    after: blocks.named(v.after, at("after"), [m], weights),
    kind: blocks.named(v.kind, at("kind"), [m], ["u1"]),
    names: orNull(v.names, at("names"), (names, place) => ofLength(list(names, place, text), n, place)),
    labels: orNull(v.labels, at("labels"), (labels, place) => labelsOf(labels, place, n, blocks)),
    believed: orNull(v.believed, at("believed"), (name, place) => blocks.named(name, place, [n, count], ["f4"])),
    thumbnails: orNull(v.thumbnails, at("thumbnails"), (images, place) => ofLength(list(images, place, thumbnail), n, place)),
    functions: functions === 0 ? null : blocks.named(v.functions, at("functions"), [functions, n], weights),
  };
};

const twoViews = (x: unknown, where: string, count: number): [number, number] => {
  const views = ofLength(
    list(x, where, (value, at) => whole(value, at, 0, count - 1)),
    2,
    where,
  );
  return [views[0], views[1]];
};

const pairsOf = (x: unknown, where: string, count: number, blocks: Blocks): PairsHeader => {
  const p = record(x, where);
  return {
    views: twoViews(p.views, `${where}.views`, count),
    a: blocks.named(p.a, `${where}.a`, [null], ["u4"]),
    b: blocks.named(p.b, `${where}.b`, [null], ["u4"]),
  };
};

const timesOf = (x: unknown): Times => {
  const t = record(x, "times");
  const least = finite(t.least, "times.least");
  const most = finite(t.most, "times.most");
  if (!(least > 0 && most >= least)) fail("times", "0 < least ≤ most is needed");
  return {
    least,
    most,
    count: whole(t.count, "times.count", 1, 1000),
    unit: finiteOrNull(t.unit, "times.unit") ?? 1,
    coupled: listOrEmpty(t.coupled, "times.coupled", finite),
  };
};

const storedOf = (x: unknown, where: string, views: ViewHeader[], functions: number, stops: number, blocks: Blocks): StoredFrames => {
  const f = record(x, where);
  const view = whole(f.view, `${where}.view`, 0, views.length - 1);
  return {
    view,
    graph: oneOf(f.graph, `${where}.graph`, GRAPHS),
    function: whole(f.function, `${where}.function`, 0, functions - 1),
    values: blocks.named(f.values, `${where}.values`, [stops, views[view].n], ["u2"]),
    scale: ofLength(list(f.scale, `${where}.scale`, finite), stops, `${where}.scale`),
    offset: orNull(f.offset, `${where}.offset`, (offset, at) => ofLength(list(offset, at, finite), stops, at)),
  };
};

const summaryOf = (x: unknown): Summary => {
  const summary: Summary = Object.create(null);
  for (const [key, value] of Object.entries(orNull(x, "summary", record) ?? {}))
    if (value === null || typeof value === "string" || typeof value === "number") summary[key] = value;
  return summary;
};

const curveOf = (x: unknown, where: string): Curve => {
  const c = record(x, where);
  const times = list(c.times, `${where}.times`, finite);
  const values = (key: string): (number | null)[] =>
    ofLength(list(c[key], `${where}.${key}`, finiteOrNull), times.length, `${where}.${key}`);
  return { times, before: values("before"), after: values("after") };
};

const agreementOf = (x: unknown, where: string, count: number): Agreement => {
  const a = record(x, where);
  return {
    views: twoViews(a.views, `${where}.views`, count),
    pairs: whole(a.pairs, `${where}.pairs`),
    before: finite(a.before, `${where}.before`),
    after: finite(a.after, `${where}.after`),
    chance: finiteOrNull(a.chance, `${where}.chance`),
  };
};

const checkOf = (x: unknown, where: string, views: ViewHeader[], functions: number): Check => {
  const c = record(x, where);
  const view = whole(c.view, `${where}.view`, 0, views.length - 1);
  const n = views[view].n;
  const at = list(c.at, `${where}.at`, (value, place) => whole(value, place, 0, n - 1));
  return {
    view,
    graph: oneOf(c.graph, `${where}.graph`, GRAPHS),
    function: orNull(c.function, `${where}.function`, (value, place) => whole(value, place, 0, functions - 1)),
    vertex: orNull(c.vertex, `${where}.vertex`, (value, place) => whole(value, place, 0, n - 1)),
    time: finite(c.time, `${where}.time`),
    at,
    heat: ofLength(list(c.heat, `${where}.heat`, finite), at.length, `${where}.heat`),
  };
};

const historyOf = (x: unknown, where: string): { cost: number | null; coupling: number | null } => {
  const h = record(x, where);
  return { cost: finiteOrNull(h.cost, `${where}.cost`), coupling: finiteOrNull(h.coupling, `${where}.coupling`) };
};

const heatOf = (x: unknown, views: ViewHeader[], functions: number, stops: number, blocks: Blocks): Header["heat"] => {
  const h = record(x, "heat");
  const tolerance = finite(h.tolerance, "heat.tolerance");
  if (!(tolerance > 0 && tolerance < 1)) fail("heat.tolerance", "a number between 0 and 1 is needed");
  const weights = h.weights === "single" ? "single" : "double";
  return { tolerance, weights, frames: listOrEmpty(h.frames, "heat.frames", (f, at) => storedOf(f, at, views, functions, stops, blocks)) };
};

export function checkHeader(json: unknown): Header {
  const h = record(json, "header");
  if (h.format !== "cotherm-viewer") fail("format", "this is not a page of the cotherm viewer");
  if (h.version !== 1) fail("version", `this viewer reads version 1, and the data is version ${String(h.version)}`);
  const table = blockTable(h.blocks);
  const blocks = new Blocks(table);
  const functions = listOrEmpty(h.functions, "functions", (f, at) => ({ name: text(record(f, at).name, `${at}.name`) }));
  const given = list(h.views, "views", record);
  const views = given.map((v, k) => viewOf(v, `views[${k}]`, given.length, functions.length, blocks));
  if (views.length === 0) fail("views", "at least one graph is needed");
  const times = timesOf(h.times);
  return {
    title: text(h.title, "title"),
    made_by: typeof h.made_by === "string" ? h.made_by : "cotherm",
    notes: listOrEmpty(h.notes, "notes", text),
    views,
    functions,
    pairs: listOrEmpty(h.pairs, "pairs", (p, at) => pairsOf(p, at, views.length, blocks)),
    times,
    heat: heatOf(h.heat, views, functions.length, times.count + 1, blocks),
    summary: summaryOf(h.summary),
    curve: orNull(h.curve, "curve", curveOf),
    agreement: listOrEmpty(h.agreement, "agreement", (a, at) => agreementOf(a, at, views.length)),
    history: listOrEmpty(h.history, "history", historyOf),
    checks: listOrEmpty(h.checks, "checks", (c, at) => checkOf(c, at, views, functions.length)),
    blocks: table,
  };
}
