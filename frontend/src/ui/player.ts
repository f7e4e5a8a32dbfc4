// Time: where it is, how it plays, and how many frames a second that gives.
import type { Data } from "../model/data.ts";
import type { HeatStore } from "../model/heat.ts";
import type { Store } from "../model/state.ts";
import type { Stage } from "./stage.ts";

/** All of time passes in so many seconds. */
const SECONDS = 12;
/** Milliseconds: after a longer pause time goes on from where it was. */
const LONGEST_STEP = 100;

export class Player {
  private lastFrame = 0;
  private loops = false;
  private frameCount = 0;

  constructor(
    private readonly data: Data,
    private readonly store: Store,
    private readonly heat: HeatStore,
    private readonly stage: () => Stage,
  ) {}

  private get last(): number {
    return this.data.stops.length - 1;
  }

  seek(stop: number): void {
    this.store.set({ playing: false });
    this.store.set({ stop: Math.max(0, Math.min(this.last, Math.round(stop))) });
  }

  step(by: number): void {
    this.seek(this.store.get().stop + by);
  }

  end(): void {
    this.seek(this.last);
  }

  toggle(): void {
    const { playing, stop } = this.store.get();
    if (playing) return this.seek(this.stage().position);
    if (stop === this.last) this.store.set({ stop: 0 });
    this.stage().position = this.store.get().stop;
    this.lastFrame = 0;
    this.store.set({ playing: true });
  }

  /** Moves time on while it plays; true if it goes on. */
  tick(now: number): boolean {
    this.frameCount++;
    if (!this.store.get().playing) return false;
    const stage = this.stage();
    const passed = this.lastFrame === 0 ? 0 : Math.min(now - this.lastFrame, LONGEST_STEP);
    this.lastFrame = now;
    const wanted = stage.position + (passed * this.last) / (1000 * SECONDS);
    stage.position = this.loops && wanted >= this.last ? 0 : Math.min(wanted, this.last, this.computed(stage));
    const ends = stage.position >= this.last;
    this.store.set(ends ? { playing: false, stop: this.last } : { stop: Math.floor(stage.position) });
    return !ends;
  }

  /** Play waits for heat that is not computed yet. */
  private computed({ position, frames }: Stage): number {
    const next = Math.min(this.last, Math.floor(position) + 1);
    const ready = frames
      .filter(({ panel }) => this.heat.has(panel.view))
      .map(({ panel }) => this.heat.latest(panel.view, panel.which, next));
    return Math.max(position, Math.min(this.last, ...ready));
  }

  /** Frames a second while heat plays, or while cameras move as well. */
  async framesPerSecond(seconds: number, moving: boolean): Promise<number> {
    this.loops = true;
    if (!this.store.get().playing) this.toggle();
    const frames = this.frameCount;
    const begin = performance.now();
    while (performance.now() - begin < 1000 * seconds) {
      await new Promise(requestAnimationFrame);
      if (moving) for (const { index } of this.data.views) this.nudge(index);
    }
    const rate = (1000 * (this.frameCount - frames)) / (performance.now() - begin);
    this.loops = false;
    this.seek(this.store.get().stop);
    return rate;
  }

  private nudge(view: number): void {
    const stage = this.stage();
    const frame = stage.frames.find(({ panel }) => panel.view === view);
    if (!frame) return;
    const lens = stage.lens(frame.panel);
    const flat = this.data.views[view].dimensions === 2;
    stage.setCamera(view, flat ? lens.panned(Math.sin(this.frameCount / 20), 0) : lens.rotated(3, 0));
  }
}
