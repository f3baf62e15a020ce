import type { Depth, ItemKey, Ledger, Settlement, SettleOutcome, StartOutcome } from "../results/index.ts";
import type { Broker, Delivery, WorkQueue, WorkQueueOptions } from "./types.ts";

/**
 * A broker, and the ledger beside the results. The broker delivers at least once and remembers nothing; what may be acked and nacked
 * is the ledger's word. Everything is recorded there before the broker hears of it.
 */
export class SplitQueue implements WorkQueue {
  readonly url: string;
  readonly #broker: Broker;
  readonly #ledger: Ledger;
  readonly #options: WorkQueueOptions;
  /** By receipt: started here and not settled, so that renewals reach their claims. */
  readonly #started = new Set<string>();

  constructor(broker: Broker, ledger: Ledger, options: WorkQueueOptions) {
    this.url = broker.url;
    this.#broker = broker;
    this.#ledger = ledger;
    this.#options = options;
  }

  async prepare(): Promise<void> {
    await this.#ledger.prepare();
    await this.#broker.prepare();
  }

  async plan(): Promise<readonly string[]> {
    return [...(await this.#ledger.plan()), ...(await this.#broker.plan())];
  }

  pull(
    max: number,
    options: { readonly waitMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly Delivery[]> {
    return this.#broker.pull(max, { ...options, leaseMs: this.#options.leaseMs });
  }

  async start(
    deliveries: readonly Delivery[],
    options: { readonly isIdle: boolean },
  ): Promise<readonly StartOutcome[]> {
    const outcomes = await this.#ledger.start(keysOf(deliveries), { ...this.#options, isIdle: options.isIdle });
    const replies = new Replies();
    outcomes.forEach((outcome, i) => {
      const delivery = deliveries[i];
      if (!delivery) return;
      if (outcome.kind === "settled") replies.ack(delivery);
      else if (outcome.kind === "handed-back") replies.nack(delivery, outcome.delayMs);
      else if (outcome.kind !== "must-wait") this.#started.add(delivery.receipt);
    });
    await replies.sendTo(this.#broker);
    return outcomes;
  }

  async renew(deliveries: readonly Delivery[]): Promise<readonly ItemKey[]> {
    const { leaseMs, holder } = this.#options;
    const started = deliveries.filter((delivery) => this.#started.has(delivery.receipt));
    const extended = this.#broker.extend(deliveries, leaseMs);
    // Both are waited for whatever becomes of the other: a claim must not run out because the broker is away.
    const [lost, kept] = await Promise.allSettled([
      started.length > 0 ? this.#ledger.renew(keysOf(started), leaseMs, holder) : [],
      extended,
    ]);
    if (lost.status === "rejected") throw lost.reason;
    if (kept.status === "rejected") throw kept.reason;
    return lost.value;
  }

  async settle(
    settlements: readonly (Settlement & { readonly delivery: Delivery })[],
  ): Promise<readonly SettleOutcome[]> {
    const outcomes = await this.#ledger.settle(settlements, this.#options);
    const replies = new Replies();
    outcomes.forEach((outcome, i) => {
      const settlement = settlements[i];
      if (!settlement) return;
      this.#started.delete(settlement.delivery.receipt);
      reply(replies, settlement, outcome);
    });
    await replies.sendTo(this.#broker);
    return outcomes;
  }

  release(deliveries: readonly Delivery[]): Promise<void> {
    return this.#broker.nack(deliveries, 0);
  }

  isDrained(): Promise<boolean> {
    return this.#ledger.isDrained();
  }

  depth(): Promise<Depth> {
    return this.#ledger.depth();
  }

  async close(): Promise<void> {
    await this.#broker.close();
    await this.#ledger.close();
  }
}

/** What the ledger's word allows to be said to the broker. */
function reply(
  replies: Replies,
  { delivery, ending }: Settlement & { readonly delivery: Delivery },
  outcome: SettleOutcome,
): void {
  // Somebody else holds the claim, and maybe this very message: an ack could take it from them.
  if (outcome.kind === "refused") return;
  if (ending.kind === "result" || outcome.kind === "late" || outcome.isDead) replies.ack(delivery);
  else replies.nack(delivery, outcome.delayMs ?? 0);
}

/** Acks and nacks gathered from a chunk: one call for the acks, one for each delay. */
class Replies {
  readonly #acks: Delivery[] = [];
  readonly #nacks = new Map<number, Delivery[]>();

  ack(delivery: Delivery): void {
    this.#acks.push(delivery);
  }

  nack(delivery: Delivery, delayMs: number): void {
    const others = this.#nacks.get(delayMs);
    if (others) others.push(delivery);
    else this.#nacks.set(delayMs, [delivery]);
  }

  async sendTo(broker: Broker): Promise<void> {
    if (this.#acks.length > 0) await broker.ack(this.#acks);
    for (const [delayMs, deliveries] of this.#nacks) await broker.nack(deliveries, delayMs);
  }
}

function keysOf(deliveries: readonly Delivery[]): ItemKey[] {
  return deliveries.map(({ id, generation }) => ({ id, generation }));
}
