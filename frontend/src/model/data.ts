// A page's data, decoded: what the rest of the viewer reads.
import { BlockReader, fromBase64, type Numbers } from "../format/blocks.ts";
import { Damaged, checkHeader } from "../format/check.ts";
import type { Header, ViewHeader, Which } from "../format/header.ts";
import { Partners } from "./partners.ts";

export type Weights = Float32Array | Float64Array;

export interface StoredFlow {
  view: number;
  graph: Which;
  function: number;
  values: Uint16Array;
  scale: number[];
  offset: number[] | null;
}

export interface View {
  index: number;
  name: string;
  n: number;
  m: number;
  header: ViewHeader;
  dimensions: 2 | 3;
  /** n × 3; the third coordinate is 0 where there are two. */
  position: Float32Array;
  faces: Uint32Array | null;
  i: Uint32Array;
  j: Uint32Array;
  weights: Record<Which, Weights>;
  kind: Uint8Array;
  codes: Int32Array | null;
  /** n × views. */
  believed: Weights | null;
  /** q × n. */
  functions: Weights | null;
}

export interface Data {
  header: Header;
  views: View[];
  partners: Partners;
  stored: StoredFlow[];
  /** Times of the slider's stops. */
  stops: number[];
}

export const stopTimes = ({ least, most, count }: Header["times"]): number[] => {
  const step = count > 1 ? Math.log(most / least) / (count - 1) : 0;
  return [0, ...Array.from({ length: count }, (_, k) => (k === count - 1 && count > 1 ? most : least * Math.exp(k * step)))];
};

export const nameOf = (view: View, vertex: number): string => view.header.names?.[vertex] ?? `${vertex}`;

export const labelOf = (view: View, vertex: number): string | null => {
  const code = view.codes ? view.codes[vertex] : -1;
  return view.header.labels?.classes[code] ?? null;
};

/** How far each view is believed about an item, for those that are; empty where that is not known or says nothing. */
export const believedOf = ({ views }: Pick<Data, "views">, { believed }: View, vertex: number): { view: View; weight: number }[] =>
  views.map((view) => ({ view, weight: believed?.[views.length * vertex + view.index] ?? 0 })).filter(({ weight }) => weight > 0);

const below = (values: Numbers, limit: number, what: string): void => {
  for (let k = 0; k < values.length; k++)
    if (values[k] >= limit) throw new Damaged(`${what} names vertex ${values[k]}, and there are only ${limit}`);
};

const allFinite = (values: Numbers, what: string, least = -Infinity): void => {
  for (let k = 0; k < values.length; k++)
    if (!(values[k] >= least && values[k] < Infinity)) throw new Damaged(`${what} has the value ${values[k]}`);
};

function inThree(values: Weights, n: number, dimensions: number): Float32Array {
  const position = new Float32Array(3 * n);
  for (let v = 0; v < n; v++) for (let k = 0; k < dimensions; k++) position[3 * v + k] = values[dimensions * v + k];
  return position;
}

/** Into [-1, 1] along the longest side, centered, so that cameras of all views speak alike. */
export function normalize(position: Float32Array): Float32Array {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let k = 0; k < position.length; k++) {
    low[k % 3] = Math.min(low[k % 3], position[k]);
    high[k % 3] = Math.max(high[k % 3], position[k]);
  }
  const half = Math.max(...high.map((value, k) => (value - low[k]) / 2)) || 1;
  return position.map((value, k) => (value - (high[k % 3] + low[k % 3]) / 2) / half);
}

async function readView(header: ViewHeader, index: number, reader: BlockReader): Promise<View> {
  const read = (name: string): Promise<Numbers> => reader.read(name);
  const maybe = async (name: string | null): Promise<Numbers | null> => (name === null ? null : reader.read(name));
  const { n, m, dimensions, name } = header;
  const [position, faces, i, j, before, after, kind, codes, believed, functions] = await Promise.all([
    read(header.position),
    maybe(header.faces),
    read(header.i),
    read(header.j),
    read(header.before),
    read(header.after),
    read(header.kind),
    maybe(header.labels?.codes ?? null),
    maybe(header.believed),
    maybe(header.functions),
  ]);
  allFinite(position, `a position in view ${index}`);
  allFinite(before, `a weight before in view ${index}`, 0);
  allFinite(after, `a weight after in view ${index}`, 0);
  if (believed) allFinite(believed, `a weight of a view in view ${index}`, 0);
  if (functions) allFinite(functions, `a function in view ${index}`);
  for (const ends of [i, j, faces ?? i]) below(ends, n, `an edge or face of view ${index}`);
  const view = { index, name, n, m, header, dimensions, i: i as Uint32Array, j: j as Uint32Array };
  return {
    ...view,
    position: normalize(inThree(position as Weights, n, dimensions)),
    faces: faces as Uint32Array | null,
    weights: { before: before as Weights, after: after as Weights },
    kind: kind as Uint8Array,
    codes: codes as Int32Array | null,
    believed: believed as Weights | null,
    functions: functions as Weights | null,
  };
}

async function readPartners(header: Header, reader: BlockReader): Promise<Partners> {
  const partners = new Partners();
  for (const { views, a, b } of header.pairs) {
    const [first, second] = [(await reader.read(a)) as Uint32Array, (await reader.read(b)) as Uint32Array];
    if (first.length !== second.length) throw new Damaged("two lists of pairs differ in length");
    below(first, header.views[views[0]].n, "a pair");
    below(second, header.views[views[1]].n, "a pair");
    partners.add(views, first, second);
  }
  return partners;
}

const readStored = (header: Header, reader: BlockReader): Promise<StoredFlow[]> =>
  Promise.all(header.heat.frames.map(async (frames) => ({ ...frames, values: (await reader.read(frames.values)) as Uint16Array })));

function parse(json: string): Header {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new Damaged("the header is not JSON: the file was cut off or changed");
  }
  return checkHeader(parsed);
}

export async function readData(json: string, base64: string): Promise<Data> {
  const header = parse(json);
  const reader = new BlockReader(fromBase64(base64.trim()), header.blocks);
  const views = await Promise.all(header.views.map((view, index) => readView(view, index, reader)));
  return {
    header,
    views,
    partners: await readPartners(header, reader),
    stored: await readStored(header, reader),
    stops: stopTimes(header.times),
  };
}
