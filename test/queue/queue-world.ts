import {
  type Broker,
  type Delivery,
  DirectQueue,
  type QueueParts,
  SplitQueue,
  sendPending,
  type WorkQueue,
} from "../../src/queue/index.ts";
import type { Claim, Ending, Ledger, SettleOutcome, StartOutcome } from "../../src/results/index.ts";
import { leaseMs, limits } from "./ledger-world.ts";

/** A queue with its results, in one database or two. */
export interface QueueUnderTest {
  /** Opens both sides once more, as another process would. */
  readonly parts: () => Promise<QueueParts>;
  /** Time passes for both sides. */
  readonly advance: (ms: number) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** What may be asked of a broker's replies: each is seen before it is sent, and may be refused by throwing. */
export interface BrokerWatch {
  onAck?: (deliveries: readonly Delivery[]) => void | Promise<void>;
  onNack?: (deliveries: readonly Delivery[], delayMs: number) => void | Promise<void>;
}

/** A broker whose replies a test sees, and can lose. */
function watched(broker: Broker, watch: BrokerWatch): Broker {
  return {
    url: broker.url,
    prepare: () => broker.prepare(),
    plan: () => broker.plan(),
    send: (items) => broker.send(items),
    pull: (max, options) => broker.pull(max, options),
    extend: (deliveries, ms) => broker.extend(deliveries, ms),
    ack: async (deliveries) => {
      await watch.onAck?.(deliveries);
      await broker.ack(deliveries);
    },
    nack: async (deliveries, delayMs) => {
      await watch.onNack?.(deliveries, delayMs);
      await broker.nack(deliveries, delayMs);
    },
    close: () => broker.close(),
  };
}

/** A worker's whole view, and what it has in hand. */
export class QueueWorker {
  readonly queue: WorkQueue;
  readonly ledger: Ledger;
  readonly watch: BrokerWatch = {};
  readonly holder: string;
  readonly #claims = new Map<Delivery, Claim>();

  constructor(holder: string, parts: QueueParts) {
    const options = { holder, leaseMs, limits };
    this.holder = holder;
    this.ledger = parts.ledger;
    this.queue = parts.broker
      ? new SplitQueue(watched(parts.broker, this.watch), parts.ledger, options)
      : new DirectQueue(parts.ledger, options);
  }

  async pull(max = 10): Promise<readonly Delivery[]> {
    return this.queue.pull(max, { waitMs: 0 });
  }

  async start(deliveries: readonly Delivery[], isIdle = true): Promise<readonly StartOutcome[]> {
    const outcomes = await this.queue.start(deliveries, { isIdle });
    outcomes.forEach((outcome, i) => {
      const delivery = deliveries[i];
      if (delivery && "claim" in outcome) this.#claims.set(delivery, outcome.claim);
    });
    return outcomes;
  }

  /** Pulls and starts; returns what was started. */
  async take(max = 10): Promise<Delivery[]> {
    const deliveries = await this.pull(max);
    const outcomes = deliveries.length > 0 ? await this.start(deliveries) : [];
    return deliveries.filter((_, i) => outcomes[i]?.kind.startsWith("started"));
  }

  settle(deliveries: readonly Delivery[], ending: Ending): Promise<readonly SettleOutcome[]> {
    return this.queue.settle(
      deliveries.map((delivery) => ({
        id: delivery.id,
        generation: delivery.generation,
        claim: this.#claims.get(delivery) ?? "never started",
        ending,
        delivery,
      })),
    );
  }
}

/** Publishes as `outlast publish` does: rows, then messages, then the end. */
export async function publishAll(
  { ledger, broker }: QueueParts,
  ids: readonly string[],
  name = "source",
): Promise<void> {
  await ledger.openPublication(name);
  await ledger.add(ids.map((id) => ({ id, data: { of: id } })));
  if (broker) await sendPending(ledger, broker);
  await ledger.closePublications(name);
}
