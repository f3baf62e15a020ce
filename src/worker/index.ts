export { createWorker } from "./create-worker.ts";
export type {
  HandleBatch,
  HandleItem,
  HandlerAnswer,
  HandlerItem,
  HandlerSpec,
  Worker,
  WorkerCounts,
  WorkerEvents,
  WorkerOptions,
  WorkerResult,
  WorkerVerdict,
} from "./types.ts";
export { type WantedOptions, wantedWorkers } from "./wanted.ts";
