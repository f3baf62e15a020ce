export { DirectQueue } from "./direct-queue.ts";
export { openBroker, openQueue, openQueueParts, type QueueParts } from "./open-queue.ts";
export {
  type PublishCounts,
  type PublishOptions,
  type PublishResult,
  publish,
  type SourceFormat,
} from "./publish/index.ts";
export { type SendOptions, sendPending } from "./send-pending.ts";
export { SplitQueue } from "./split-queue.ts";
export type { Broker, Delivery, WorkQueue, WorkQueueOptions } from "./types.ts";
