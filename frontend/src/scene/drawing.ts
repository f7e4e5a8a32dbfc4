// A panel as it is to be drawn.
import type { Which } from "../format/header.ts";
import type { Panel } from "./arrange.ts";
import type { Lens } from "./lens.ts";

/** Red, green, blue from 0 to 1. */
export type Color = [number, number, number];

export interface PanelDrawing {
  panel: Panel;
  lens: Lens;
  /** No heat at all comes here. */
  silent: boolean;
}

/** A panel's rectangle on the canvas in its own pixels, from the lower left corner. */
export type Place = (panel: Panel) => [number, number, number, number];

export const keyOf = ({ view, which }: { view: number; which: Which }): string => `${view}:${which}`;
