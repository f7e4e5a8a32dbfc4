// The state in the address, as key=value pairs that a person can read. Whatever is unknown or does not fit is ignored.
import { readCamera, sameCamera, writeCamera, type Camera } from "../scene/camera.ts";
import type { Data } from "./data.ts";
import { readSource, writeSource } from "./source.ts";
import { EDGES, MAPS, RANGES, SHOWN, STRETCHES, THEMES, type State } from "./state.ts";

const MOST_CHARACTERS = 4096;

type LinkData = Pick<Data, "header" | "views" | "stops">;

export function writeLink(state: State, homes: readonly Camera[]): string {
  const pairs: [string, string][] = [
    ["view", state.view === null ? "all" : `${state.view}`],
    ["time", `${state.stop}`],
    ["source", writeSource(state.source)],
    ["shown", state.shown],
  ];
  if (state.theme !== "auto") pairs.push(["theme", state.theme]);
  if (state.map !== "heat") pairs.push(["map", state.map]);
  if (state.range !== "frame") pairs.push(["range", state.range]);
  if (state.stretch !== "root") pairs.push(["stretch", state.stretch]);
  if (state.edges !== "all") pairs.push(["edges", state.edges]);
  if (state.linked) pairs.push(["linked", "1"]);
  if (state.edge) pairs.push(["edge", `${state.edge.view}:${state.edge.edge}`]);
  state.cameras.forEach((camera, k) => {
    if (!sameCamera(camera, homes[k])) pairs.push([`camera${k}`, writeCamera(camera)]);
  });
  return pairs.map(([key, value]) => `${key}=${value}`).join("&");
}

const integer = (text: string | undefined, count: number): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text) && Number(text) < count ? Number(text) : null;

const choice = <T extends string>(text: string | undefined, allowed: readonly T[]): T | undefined =>
  allowed.find((value) => value === text);

function readPairs(hash: string): Map<string, string> {
  const pairs = new Map<string, string>();
  for (const part of hash.replace(/^#/, "").slice(0, MOST_CHARACTERS).split("&")) {
    const at = part.indexOf("=");
    if (at > 0) pairs.set(part.slice(0, at), part.slice(at + 1));
  }
  return pairs;
}

function readEdge(text: string | undefined, data: LinkData): State["edge"] | undefined {
  const [, view, edge] = /^(\d{1,4}):(\d{1,9})$/.exec(text ?? "") ?? [];
  return Number(edge) < (data.views[Number(view)]?.m ?? 0) ? { view: Number(view), edge: Number(edge) } : undefined;
}

export function readLink(hash: string, data: LinkData, homes: readonly Camera[]): Partial<State> {
  const pairs = readPairs(hash);
  const source = readSource(pairs.get("source") ?? "", data);
  const found: Partial<State> = {
    view: pairs.get("view") === "all" ? null : (integer(pairs.get("view"), data.views.length) ?? undefined),
    stop: integer(pairs.get("time"), data.stops.length) ?? undefined,
    source: source ?? undefined,
    shown: choice(pairs.get("shown"), SHOWN),
    theme: choice(pairs.get("theme"), THEMES),
    map: choice(pairs.get("map"), MAPS),
    range: choice(pairs.get("range"), RANGES),
    stretch: choice(pairs.get("stretch"), STRETCHES),
    edges: choice(pairs.get("edges"), EDGES),
    linked: pairs.get("linked") === "1" || undefined,
    edge: readEdge(pairs.get("edge"), data),
    cameras: homes.map((home, k) => readCamera(pairs.get(`camera${k}`)) ?? home),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Partial<State>;
}
