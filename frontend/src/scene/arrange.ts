// Where panels go: a column for each view with before above after, broken into several bands where columns would get too narrow.
import type { Shown } from "../model/state.ts";
import type { Which } from "../format/header.ts";

export interface Panel {
  view: number;
  which: Which;
  x: number;
  y: number;
  width: number;
  height: number;
}

export const GAP = 8;

const graphsShown = (shown: Shown): Which[] => (shown === "both" ? ["before", "after"] : [shown]);

/** How good a grid is: the smaller side of its panels, since graphs are about as wide as high. */
const quality = (columns: number, rows: number, width: number, height: number): number =>
  Math.min((width - GAP * (columns - 1)) / columns, (height - GAP * (rows - 1)) / rows);

function bestColumns(views: number, graphs: number, width: number, height: number): number {
  let best = views;
  for (let columns = views - 1; columns > 0; columns--) {
    const rows = graphs * Math.ceil(views / columns);
    const now = graphs * Math.ceil(views / best);
    // One band is easiest to read: it is only given up for panels that are clearly larger.
    if (quality(columns, rows, width, height) > 1.15 * quality(best, now, width, height)) best = columns;
  }
  return best;
}

export function arrange(views: readonly number[], shown: Shown, width: number, height: number): Panel[] {
  const graphs = graphsShown(shown);
  // One view alone, wider than high: before and after beside each other.
  if (views.length === 1 && graphs.length === 2 && width > height) return beside(views[0], graphs, width, height);
  const columns = bestColumns(views.length, graphs.length, width, height);
  const rows = graphs.length * Math.ceil(views.length / columns);
  const cell = { width: Math.floor((width - GAP * (columns - 1)) / columns), height: Math.floor((height - GAP * (rows - 1)) / rows) };
  return views.flatMap((view, k) =>
    graphs.map((which, g) => {
      const row = graphs.length * Math.floor(k / columns) + g;
      return { view, which, x: (k % columns) * (cell.width + GAP), y: row * (cell.height + GAP), ...cell };
    }),
  );
}

function beside(view: number, graphs: Which[], width: number, height: number): Panel[] {
  const cell = { width: Math.floor((width - GAP) / 2), height: Math.floor(height) };
  return graphs.map((which, g) => ({ view, which, x: g * (cell.width + GAP), y: 0, ...cell }));
}
