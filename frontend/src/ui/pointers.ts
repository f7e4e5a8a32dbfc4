// Pointers and keys on a panel: drag, wheel, pinch, click; arrows, plus, minus, Enter.
import type { View } from "../model/data.ts";
import type { Lens } from "../scene/lens.ts";
import { pickEdge, pickVertex, projectAll } from "../scene/picking.ts";
import type { Pointed } from "./marks.ts";
import type { PanelFrame, Stage } from "./stage.ts";

export interface PointerActions {
  point(pointed: Pointed | null, x: number, y: number): void;
  start(view: number, vertex: number): void;
}

/** Pixels: a pointer that moves less has clicked. */
const STILL = 4;
const REACH = 12;
const EDGE_REACH = 5;
const STEP = 40;

interface Place {
  x: number;
  y: number;
}

export class PanelPointers {
  private readonly held = new Map<number, Place>();
  private moved = 0;
  private waiting: Place | null = null;
  private projected = new Float32Array(0);

  constructor(
    private readonly stage: Stage,
    private readonly view: View,
    private readonly frame: PanelFrame,
    private readonly actions: PointerActions,
  ) {
    const { element } = frame;
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.up(event));
    element.addEventListener("pointercancel", (event) => this.held.delete(event.pointerId));
    element.addEventListener("pointerleave", () => this.leave());
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("keydown", (event) => this.key(event));
  }

  private get lens(): Lens {
    return this.stage.lens(this.frame.panel);
  }

  private place(event: MouseEvent): Place {
    const box = this.frame.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private down(event: PointerEvent): void {
    if (event.target instanceof Element && event.target.closest("button")) return;
    this.frame.element.setPointerCapture(event.pointerId);
    this.held.set(event.pointerId, this.place(event));
    if (this.held.size === 1) this.moved = 0;
  }

  private move(event: PointerEvent): void {
    const now = this.place(event);
    const old = this.held.get(event.pointerId);
    if (!old) return this.hover(now, event);
    this.held.set(event.pointerId, now);
    this.moved += Math.abs(now.x - old.x) + Math.abs(now.y - old.y);
    if (this.moved < STILL) return;
    this.actions.point(null, 0, 0);
    if (this.held.size === 2) this.pinch(event.pointerId, old, now);
    else this.drag(event, now.x - old.x, now.y - old.y);
  }

  private drag(event: PointerEvent, dx: number, dy: number): void {
    const pans = this.view.dimensions === 2 || event.shiftKey || (event.buttons & 6) !== 0;
    this.stage.setCamera(this.view.index, pans ? this.lens.panned(dx, dy) : this.lens.rotated(dx, dy));
  }

  private pinch(id: number, old: Place, now: Place): void {
    const other = [...this.held].find(([key]) => key !== id)![1];
    const before = Math.hypot(old.x - other.x, old.y - other.y) || 1;
    const after = Math.hypot(now.x - other.x, now.y - other.y) || 1;
    this.stage.setCamera(this.view.index, this.lens.zoomed(after / before, (now.x + other.x) / 2, (now.y + other.y) / 2));
  }

  private up(event: PointerEvent): void {
    const held = this.held.delete(event.pointerId);
    if (!held || this.moved >= STILL || event.button !== 0) return;
    const { x, y } = this.place(event);
    const pointed = this.pick(x, y, REACH);
    if (pointed && pointed.vertex !== null) this.actions.start(this.view.index, pointed.vertex);
  }

  private leave(): void {
    this.waiting = null;
    this.actions.point(null, 0, 0);
  }

  /** At most one look a frame, however fast the pointer reports. */
  private hover(place: Place, event: MouseEvent): void {
    const idle = this.waiting === null;
    this.waiting = place;
    const { clientX, clientY } = event;
    if (!idle) return;
    requestAnimationFrame(() => {
      if (!this.waiting) return;
      const { x, y } = this.waiting;
      this.waiting = null;
      this.actions.point(this.pick(x, y, REACH), clientX, clientY);
    });
  }

  private pick(x: number, y: number, reach: number): Pointed | null {
    const { view } = this;
    if (this.projected.length === 0) this.projected = new Float32Array(3 * view.n);
    projectAll(this.lens, view.position, this.projected);
    const vertex = pickVertex(this.projected, x, y, reach, view.faces !== null);
    if (vertex !== null) return { view: view.index, vertex, edge: null };
    const edge = view.faces ? null : pickEdge(view, this.frame.panel.which, this.projected, x, y, EDGE_REACH);
    return edge === null ? null : { view: view.index, vertex: null, edge };
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { x, y } = this.place(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.stage.setCamera(this.view.index, this.lens.zoomed(Math.exp(-event.deltaY * lines * 0.0016), x, y));
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.frame.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const done = this.arrow(event) || this.command(event.key);
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private arrow({ key, shiftKey }: KeyboardEvent): boolean {
    const [dx, dy] = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[key] ?? [0, 0];
    if (dx === 0 && dy === 0) return false;
    const pans = this.view.dimensions === 2 || shiftKey;
    this.stage.setCamera(this.view.index, pans ? this.lens.panned(dx, dy) : this.lens.rotated(-dx, -dy));
    return true;
  }

  private command(key: string): boolean {
    if (key === "+" || key === "=") this.stage.setCamera(this.view.index, this.lens.zoomed(1.25));
    else if (key === "-") this.stage.setCamera(this.view.index, this.lens.zoomed(0.8));
    else if (key === "0") this.stage.resetCamera(this.view.index);
    else if (key === "Enter") this.startInMiddle();
    else return false;
    return true;
  }

  /** At the vertex nearest to the middle: wider and wider circles, since on a surface the front one of a circle is taken. */
  private startInMiddle(): void {
    const { width, height } = this.frame.panel;
    for (let reach = REACH; reach < 2 * (width + height); reach *= 2) {
      const pointed = this.pick(width / 2, height / 2, reach);
      if (pointed && pointed.vertex !== null) return this.actions.start(this.view.index, pointed.vertex);
    }
  }
}
