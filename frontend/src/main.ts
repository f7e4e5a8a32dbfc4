// Starts the viewer, and publishes a read-only object for tests and measurements.
import { Damaged } from "./format/check.ts";
import { readData } from "./model/data.ts";
import { readSource } from "./model/source.ts";
import { App } from "./ui/app.ts";
import { showProblem } from "./ui/problem.ts";
import type { Which } from "./format/header.ts";

const errors: string[] = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));

const textOf = (id: string): string => {
  const element = document.getElementById(id);
  if (!element) throw new Damaged(`the page has no ${id}: the file was cut off or changed`);
  return element.textContent ?? "";
};

async function start(root: HTMLElement): Promise<App> {
  const data = await readData(textOf("cotherm-header"), textOf("cotherm-blocks"));
  document.getElementById("cotherm-blocks")?.remove(); // decoded; the text is only in the way
  const app = new App(root, data);
  void app.check();
  return app;
}

function publish(ready: Promise<App>): void {
  let app: App | null = null;
  void ready.then((made) => (app = made)).catch(() => {});
  const running = (): App => {
    if (!app) throw new Error("the viewer is not ready");
    return app;
  };
  const hooks = {
    ready: ready.then(() => true),
    errors,
    state: () => ({
      ...running().store.get(),
      time: running().data.stops[running().store.get().stop],
      progress: running().heat.progress(),
      settled: running().settled,
    }),
    heat: (view: number, which: Which) => running().heatAt(view, which),
    setTime: (stop: number) => running().player.seek(stop),
    setSource: (text: string) => {
      const source = readSource(text, running().data);
      if (!source) throw new Error(`no such source: ${text}`);
      running().setSource(source);
    },
    changed: (view: number) => {
      const { m, i, j, kind } = running().data.views[view];
      const rows: [number, number, number][] = [];
      for (let e = 0; e < m; e++) if (kind[e] !== 0) rows.push([i[e], j[e], kind[e]]);
      return rows;
    },
    fps: (seconds: number, turning = false) => running().player.framesPerSecond(seconds, turning),
  };
  hooks.ready.catch(() => {});
  Object.defineProperty(window, "cotherm", { value: Object.freeze(hooks), writable: false, configurable: false });
}

const root = document.getElementById("app")!;
const ready = start(root);
ready.catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  showProblem(root, error instanceof Damaged ? `The data in it is damaged. ${message}.` : message);
});
publish(ready);
