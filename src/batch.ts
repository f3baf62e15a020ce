/**
 * Batch work as a library: publish items, work them off, look after the queue.
 *
 * @example
 * const { ledger, broker } = await openQueueParts("sqlite:jobs.db");
 * await ledger.prepare();
 * await publish({ ledger, broker, from: ["images.csv"], id: "path" });
 */
export {
  type Broker,
  type Delivery,
  openQueue,
  openQueueParts,
  type PublishCounts,
  type PublishOptions,
  type PublishResult,
  publish,
  type QueueParts,
  type SourceFormat,
  type WorkQueue,
  type WorkQueueOptions,
} from "./queue/index.ts";
export type { Audit, DeadItem, Depth, ItemData, ItemLimits, JsonValue, Ledger } from "./results/index.ts";
export {
  createWorker,
  type HandleBatch,
  type HandleItem,
  type HandlerAnswer,
  type HandlerItem,
  type HandlerSpec,
  type Worker,
  type WorkerCounts,
  type WorkerEvents,
  type WorkerOptions,
  type WorkerResult,
  type WorkerVerdict,
} from "./worker/index.ts";
