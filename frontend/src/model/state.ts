// What the reader has chosen. Everything that is seen follows from the data and this.
import type { Camera } from "../scene/camera.ts";
import type { Source } from "./source.ts";

export type Shown = "both" | "before" | "after";
export type Theme = "auto" | "light" | "dark";
export type Range = "frame" | "fixed";
export type Stretch = "linear" | "root" | "log";
export type Edges = "all" | "changed" | "none";
export type MapName = "heat" | "viridis" | "inferno";

export const SHOWN: readonly Shown[] = ["both", "before", "after"];
export const THEMES: readonly Theme[] = ["auto", "light", "dark"];
export const RANGES: readonly Range[] = ["frame", "fixed"];
export const STRETCHES: readonly Stretch[] = ["linear", "root", "log"];
export const EDGES: readonly Edges[] = ["all", "changed", "none"];
export const MAPS: readonly MapName[] = ["heat", "viridis", "inferno"];

export interface EdgeChoice {
  view: number;
  edge: number;
}

export interface State {
  /** The one view that is shown; null for all. */
  view: number | null;
  stop: number;
  source: Source;
  shown: Shown;
  theme: Theme;
  map: MapName;
  range: Range;
  stretch: Stretch;
  edges: Edges;
  linked: boolean;
  cameras: Camera[];
  edge: EdgeChoice | null;
  playing: boolean;
}

type Listener = (state: State, changed: ReadonlySet<keyof State>) => void;

export class Store {
  private readonly listeners: Listener[] = [];

  constructor(private state: State) {}

  get(): Readonly<State> {
    return this.state;
  }

  set(patch: Partial<State>): void {
    const keys = Object.keys(patch) as (keyof State)[];
    const changed = new Set(keys.filter((key) => this.state[key] !== patch[key]));
    if (changed.size === 0) return;
    this.state = { ...this.state, ...patch };
    for (const listener of this.listeners) listener(this.state, changed);
  }

  subscribe(listener: Listener): void {
    this.listeners.push(listener);
  }
}
