// Workers that each keep some of the graphs, or the page itself in small portions where workers are forbidden.
import { HeatEngine } from "./engine.ts";
import type { FlowMessage, FrameMessage, GraphMessage, ToWorker } from "./messages.ts";

interface Helper {
  post(message: ToWorker): void;
}

type Receive = (frame: FrameMessage) => void;

const MOST_WORKERS = 4;
/** In the page itself, short enough to leave time for frames. */
const PORTION_IN_PAGE = 8;

/** A worker; where it cannot start (some policies forbid workers only then) the page takes over what it was asked. */
function makeWorker(code: string, receive: Receive): Helper {
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  let asked: ToWorker[] = [];
  let post = (message: ToWorker): void => worker.postMessage(message);
  worker.onmessage = (event: MessageEvent<FrameMessage>) => receive(event.data);
  worker.onerror = (event) => {
    event.preventDefault();
    worker.terminate();
    post = makeInPage(receive).post;
    asked.forEach(post);
    asked = [];
  };
  return {
    post(message) {
      // Of use are the graphs, and the flows since the last change of what is looked at.
      if (message.type === "cancel") asked = asked.filter((old) => old.type !== "flow" || old.idle);
      else asked.push(message);
      post(message);
    },
  };
}

function makeInPage(receive: Receive): Helper {
  const engine = new HeatEngine(receive, PORTION_IN_PAGE);
  return { post: (message) => engine.receive(message) };
}

export class HeatPool {
  private readonly helpers: Helper[] = [];
  private readonly keeper = new Map<string, Helper>();

  constructor(code: string, graphs: number, receive: Receive) {
    const count = Math.max(1, Math.min(graphs, MOST_WORKERS, navigator.hardwareConcurrency || 2));
    try {
      for (let k = 0; k < count; k++) this.helpers.push(makeWorker(code, receive));
    } catch {
      this.helpers = [makeInPage(receive)];
    }
  }

  addGraph(message: GraphMessage): void {
    const helper = this.helpers[this.keeper.size % this.helpers.length];
    this.keeper.set(message.key, helper);
    helper.post(message);
  }

  flow(message: FlowMessage): void {
    this.keeper.get(message.key)!.post(message);
  }

  cancel(): void {
    for (const helper of this.helpers) helper.post({ type: "cancel" });
  }
}
