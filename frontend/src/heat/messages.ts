// What the page and its workers say to each other.

export interface GraphMessage {
  type: "graph";
  key: string;
  n: number;
  i: Uint32Array;
  j: Uint32Array;
  w: Float32Array | Float64Array;
}

export interface FlowMessage {
  type: "flow";
  key: string;
  job: number;
  f: Float64Array;
  times: number[];
  tolerance: number;
  /** Frames are rounded to 32 bits, to save memory. */
  single: boolean;
  /** Runs only while nothing that is looked at is waiting. */
  idle: boolean;
}

/** What is looked at has changed: flows that are not idle are of no use any more. */
export interface CancelMessage {
  type: "cancel";
}

export type ToWorker = GraphMessage | FlowMessage | CancelMessage;

export interface FrameMessage {
  key: string;
  job: number;
  stop: number;
  heat: Float32Array | Float64Array;
}
