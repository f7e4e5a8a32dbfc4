// Heat of the current source on all graphs at all stops, as far as it is computed.
import { WHICH, type Check, type Which } from "../format/header.ts";
import type { FrameMessage } from "../heat/messages.ts";
import { HeatPool } from "../heat/pool.ts";
import type { Data, StoredFlow } from "./data.ts";
import { heatAtStart, type Source } from "./source.ts";

export type HeatFrame = Float32Array | Float64Array;

/** Above this many values a graph, frames are kept in 32 bits. */
const MOST_DOUBLES = 2_000_000;
const SINGLE_ROUNDING = 6e-8;

const keyOf = (view: number, which: Which): string => `${view}:${which}`;

export interface CheckReport {
  values: number;
  largest: number;
  /** The largest difference in parts of the error that is stated for it. */
  excess: number;
}

interface Pending {
  remaining: number;
  frames: HeatFrame[];
  resolve: (frames: HeatFrame[]) => void;
}

export class HeatStore {
  private readonly pool: HeatPool;
  private readonly frames = new Map<string, (HeatFrame | null)[]>();
  private readonly asked = new Map<number, Pending>();
  private job = 0;
  private nextAsked = -1;
  private silent = new Set<number>();

  constructor(
    private readonly data: Data,
    workerCode: string,
    private readonly onFrame: () => void,
  ) {
    this.pool = new HeatPool(workerCode, 2 * data.views.length, (frame) => this.receive(frame));
    for (const view of data.views)
      for (const which of WHICH)
        this.pool.addGraph({ type: "graph", key: keyOf(view.index, which), n: view.n, i: view.i, j: view.j, w: view.weights[which] });
  }

  /** Heat starts anew; frames of the last source are gone. */
  start(source: Source): void {
    this.job++;
    this.pool.cancel();
    this.frames.clear();
    this.silent = new Set();
    for (const { index } of this.data.views) this.startView(source, index);
    this.onFrame();
  }

  private startView(source: Source, view: number): void {
    const f = heatAtStart(this.data, source, view);
    if (!f) this.silent.add(view);
    for (const which of WHICH) {
      const stored = source.type === "function" && this.stored(view, which, source.index);
      if (stored) this.frames.set(keyOf(view, which), unpack(stored, this.data.views[view].n));
      else if (f) this.startGraph(view, which, f);
    }
  }

  private startGraph(view: number, which: Which, f: Float64Array): void {
    const { stops, header } = this.data;
    this.frames.set(
      keyOf(view, which),
      stops.map((_, k) => (k === 0 ? f : null)),
    );
    const message = {
      key: keyOf(view, which),
      job: this.job,
      f,
      times: stops,
      tolerance: header.heat.tolerance,
      single: this.single(view),
    };
    this.pool.flow({ type: "flow", idle: false, ...message });
  }

  /** Whether a function's heat on this view comes from the whole graph, in frames. */
  stored(view: number, which: Which, index: number): StoredFlow | undefined {
    return this.data.stored.find((flow) => flow.view === view && flow.graph === which && flow.function === index);
  }

  private single(view: number): boolean {
    return this.data.views[view].n * this.data.stops.length > MOST_DOUBLES;
  }

  private receive({ key, job, stop, heat }: FrameMessage): void {
    if (job < 0) return this.answer(job, stop, heat);
    if (job !== this.job) return;
    this.frames.get(key)![stop] = heat;
    this.onFrame();
  }

  /** Heat at a stop; null if it is not computed yet, or there is none in this view. */
  at(view: number, which: Which, stop: number): HeatFrame | null {
    return this.frames.get(keyOf(view, which))?.[stop] ?? null;
  }

  /** The last stop up to `stop` that is computed. */
  latest(view: number, which: Which, stop: number): number {
    const frames = this.frames.get(keyOf(view, which));
    let last = stop;
    while (last > 0 && !frames?.[last]) last--;
    return last;
  }

  has(view: number): boolean {
    return !this.silent.has(view);
  }

  /** Part of all frames that is computed. */
  progress(): number {
    let done = 0;
    let all = 0;
    for (const frames of this.frames.values()) {
      all += frames.length;
      for (const frame of frames) if (frame) done++;
    }
    return all === 0 ? 1 : done / all;
  }

  /** How far the heat shown may be from the exact one, in parts of the norm of the heat at time 0. */
  get statedError(): number {
    const rounding = this.data.views.some((view) => this.single(view.index)) ? SINGLE_ROUNDING : 0;
    return this.data.header.heat.tolerance + rounding;
  }

  /** Heat at any times, beside what is shown. */
  ask(view: number, which: Which, f: Float64Array, times: number[]): Promise<HeatFrame[]> {
    const job = this.nextAsked--;
    const message = { key: keyOf(view, which), job, f, times, tolerance: this.data.header.heat.tolerance, single: false };
    this.pool.flow({ type: "flow", idle: true, ...message });
    return new Promise((resolve) => this.asked.set(job, { remaining: times.length, frames: [], resolve }));
  }

  private answer(job: number, stop: number, heat: HeatFrame): void {
    const pending = this.asked.get(job)!;
    pending.frames[stop] = heat;
    if (--pending.remaining > 0) return;
    this.asked.delete(job);
    pending.resolve(pending.frames);
  }

  /** Compares the page's heat with values of the library: the largest difference, in parts of the norm at time 0. */
  async check(): Promise<CheckReport> {
    const report: CheckReport = { values: 0, largest: 0, excess: 0 };
    for (const check of this.data.header.checks) {
      const found = await this.checked(check);
      if (!found) continue;
      const differences = check.at.map((vertex, k) => Math.abs(found.heat[vertex] - check.heat[k]) / found.norm);
      const largest = Math.max(0, ...differences);
      report.values += differences.length;
      report.largest = Math.max(report.largest, largest);
      report.excess = Math.max(report.excess, largest / found.error);
    }
    return report;
  }

  /** The page's own heat for a check, the norm it is measured in, and the error that it may have. */
  private async checked(check: Check): Promise<{ heat: HeatFrame; norm: number; error: number } | null> {
    const source = sourceOf(check);
    const f = source && heatAtStart(this.data, source, check.view);
    if (!f) return null;
    const norm = norm2(f) || 1;
    const stored = source.type === "function" ? this.stored(check.view, check.graph, source.index) : undefined;
    if (!stored) return { heat: (await this.ask(check.view, check.graph, f, [check.time]))[0], norm, error: this.statedError };
    const stop = nearestStop(this.data.stops, check.time);
    // Stored frames have the library's own heat at a stop; a check at another time says nothing about them.
    if (Math.abs(this.data.stops[stop] - check.time) > 1e-9 * check.time) return null;
    return { heat: unpackFrame(stored, stop, f.length), norm, error: Math.abs(stored.scale[stop]) / 65535 / norm + this.statedError };
  }
}

const nearestStop = (stops: readonly number[], time: number): number =>
  stops.reduce((best, stop, k) => (Math.abs(stop - time) < Math.abs(stops[best] - time) ? k : best), 0);

const sourceOf = ({ function: index, vertex, view }: Check): Source | null => {
  if (index !== null) return { type: "function", index };
  return vertex === null ? null : { type: "vertex", view, vertex };
};

const norm2 = (f: Float64Array): number => Math.sqrt(f.reduce((sum, value) => sum + value * value, 0));

function unpackFrame({ values, scale, offset }: StoredFlow, stop: number, n: number): HeatFrame {
  const frame = new Float32Array(n);
  for (let v = 0; v < n; v++) frame[v] = (values[stop * n + v] * scale[stop]) / 65535 + (offset?.[stop] ?? 0);
  return frame;
}

const unpack = (flow: StoredFlow, n: number): HeatFrame[] => flow.scale.map((_, stop) => unpackFrame(flow, stop, n));
