// Answers flow messages in small portions. It is the body of a worker, and serves the page itself where workers are forbidden.
import { heatFlow, type Frame } from "./flow.ts";
import { makeLaplacian, type Laplacian } from "./laplacian.ts";
import type { FlowMessage, FrameMessage, ToWorker } from "./messages.ts";

interface Running {
  message: FlowMessage;
  flow: Generator<Frame | null>;
}

export class HeatEngine {
  private readonly graphs = new Map<string, Laplacian>();
  private urgent: Running[] = [];
  private readonly idle: Running[] = [];
  private active = false;

  constructor(
    private readonly send: (frame: FrameMessage) => void,
    private readonly portion: number, // milliseconds between looks at new messages
  ) {}

  receive(message: ToWorker): void {
    if (message.type === "graph") this.graphs.set(message.key, makeLaplacian(message.n, message.i, message.j, message.w));
    else if (message.type === "cancel") this.urgent = [];
    else this.start(message);
  }

  private start(message: FlowMessage): void {
    const flow = heatFlow(this.graphs.get(message.key)!, message.f, message.times, message.tolerance);
    (message.idle ? this.idle : this.urgent).push({ message, flow });
    if (!this.active) void this.run();
  }

  private async run(): Promise<void> {
    this.active = true;
    while (this.urgent.length + this.idle.length > 0) {
      const end = performance.now() + this.portion;
      while (this.urgent.length + this.idle.length > 0 && performance.now() < end) this.step();
      await new Promise((resume) => setTimeout(resume, 0));
    }
    this.active = false;
  }

  private step(): void {
    const queue = this.urgent.length > 0 ? this.urgent : this.idle;
    const running = queue.shift()!;
    const { value, done } = running.flow.next();
    if (value) this.deliver(running.message, value);
    // To the back, so that all graphs have their short times before any has its long ones.
    if (!done) queue.push(running);
  }

  private deliver({ key, job, single }: FlowMessage, { stop, heat }: Frame): void {
    this.send({ key, job, stop, heat: single ? Float32Array.from(heat) : heat });
  }
}
