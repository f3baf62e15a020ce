import { OutlastError } from "../core/index.ts";
import {
  isSameDatabase,
  type Ledger,
  openLedgerAt,
  parseQueueUrl,
  parseResultsUrl,
  type QueueAddress,
  type SqliteFileOptions,
} from "../results/index.ts";
import { DirectQueue } from "./direct-queue.ts";
import { SplitQueue } from "./split-queue.ts";
import { SqliteBroker } from "./sqlite/index.ts";
import type { Broker, WorkQueue, WorkQueueOptions } from "./types.ts";

/** A queue's two sides, for those who publish, look and mend. */
export interface QueueParts {
  readonly ledger: Ledger;
  /** Where the messages are; undefined where the ledger is the queue too. */
  readonly broker: Broker | undefined;
}

/**
 * Opens both sides of a queue, and says by `broker` whether they are one database.
 *
 * @example
 * const { ledger, broker } = await openQueueParts("pubsub://p/s?topic=t", "postgres://…?table=labels");
 */
export async function openQueueParts(
  queueUrl: string,
  resultsUrl?: string,
  options: SqliteFileOptions = {},
): Promise<QueueParts> {
  const queue = parseQueueUrl(queueUrl);
  if (resultsUrl === undefined) {
    if (queue.kind === "pubsub") {
      throw new OutlastError("OUTLAST_USAGE", "a Pub/Sub queue needs a database for its results", {
        operation: "open",
        target: queue.shown,
        hint: "give --results sqlite:PATH or postgres://…?table=NAME, the same to publish and to work",
      });
    }
    return { ledger: await openLedgerAt(queue, options), broker: undefined };
  }
  const results = parseResultsUrl(resultsUrl);
  const ledger = await openLedgerAt(results, options);
  return { ledger, broker: isSameDatabase(queue, results) ? undefined : await openBrokerAt(queue, options) };
}

/** Opens a queue for a worker. */
export async function openQueue(
  queueUrl: string,
  resultsUrl: string | undefined,
  worker: WorkQueueOptions,
  options: SqliteFileOptions = {},
): Promise<WorkQueue> {
  const { ledger, broker } = await openQueueParts(queueUrl, resultsUrl, options);
  return broker ? new SplitQueue(broker, ledger, worker) : new DirectQueue(ledger, worker, options.clock);
}

/** Opens the broker at a URL; nothing is asked of it before the first call. */
export function openBroker(url: string, options: SqliteFileOptions = {}): Promise<Broker> {
  return openBrokerAt(parseQueueUrl(url), options);
}

/** The clients are large: each is loaded when its scheme is used, and not before. */
async function openBrokerAt(address: QueueAddress, options: SqliteFileOptions): Promise<Broker> {
  if (address.kind === "sqlite") return new SqliteBroker(address, options);
  if (address.kind === "postgres") {
    const { openPostgresBroker } = await import("./postgres/index.ts");
    return openPostgresBroker(address);
  }
  const { openPubSubBroker } = await import("./pubsub/index.ts");
  return openPubSubBroker(address);
}
