// Where panels go: a column for each view with before above after, unless other grids give clearly larger panels.
import type { Which } from "../format/header.ts";
import type { Shown } from "../model/state.ts";

export interface Panel {
  view: number;
  which: Which;
  x: number;
  y: number;
  width: number;
  height: number;
}

export const GAP = 8;
/** Another grid must be better than the plain one by this. */
const CLEARLY = 1.15;

/** `views` in a row, each with its graphs above or beside each other. */
interface Grid {
  views: number;
  beside: boolean;
}

interface Size {
  width: number;
  height: number;
}

const graphsShown = (shown: Shown): Which[] => (shown === "both" ? ["before", "after"] : [shown]);

function cellOf(grid: Grid, count: number, graphs: number, { width, height }: Size): Size {
  const columns = grid.views * (grid.beside ? graphs : 1);
  const rows = Math.ceil(count / grid.views) * (grid.beside ? 1 : graphs);
  return { width: Math.floor((width - GAP * (columns - 1)) / columns), height: Math.floor((height - GAP * (rows - 1)) / rows) };
}

/** The plain grid, all views in one row with before above after, then all others. */
function gridsOf(count: number): Grid[] {
  const rows = Array.from({ length: count }, (_, k) => count - k);
  return [...rows.map((views) => ({ views, beside: false })), ...rows.map((views) => ({ views, beside: true }))];
}

/** `aspect`: width of a view in parts of its height, as far as views have one in common. */
export function arrange(views: readonly number[], shown: Shown, width: number, height: number, aspect = 1): Panel[] {
  const graphs = graphsShown(shown);
  const size = { width, height };
  const quality = (grid: Grid): number => {
    const cell = cellOf(grid, views.length, graphs.length, size);
    return Math.min(cell.width / aspect, cell.height);
  };
  const grids = gridsOf(views.length);
  const best = grids.reduce((a, b) => (quality(b) > CLEARLY * quality(a) ? b : a));
  const cell = cellOf(best, views.length, graphs.length, size);
  return views.flatMap((view, k) =>
    graphs.map((which, g) => {
      const [column, row] = [k % best.views, Math.floor(k / best.views)];
      const [x, y] = best.beside ? [column * graphs.length + g, row] : [column, row * graphs.length + g];
      return { view, which, x: x * (cell.width + GAP), y: y * (cell.height + GAP), ...cell };
    }),
  );
}
