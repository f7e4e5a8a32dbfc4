import { HeatEngine } from "./engine.ts";
import type { FrameMessage, ToWorker } from "./messages.ts";

interface WorkerScope {
  postMessage(message: FrameMessage, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
}

const scope = self as unknown as WorkerScope;
const engine = new HeatEngine((frame) => scope.postMessage(frame, [frame.heat.buffer as ArrayBuffer]), 40);
scope.onmessage = (event) => engine.receive(event.data);
