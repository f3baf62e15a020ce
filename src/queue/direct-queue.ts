import { type Clock, systemClock } from "../core/index.ts";
import type { Depth, ItemKey, Ledger, Settlement, SettleOutcome, StartOutcome } from "../results/index.ts";
import type { Delivery, WorkQueue, WorkQueueOptions } from "./types.ts";

/** Queue and results in one database: the ledger is the queue, and a settlement is its own ack. */
export class DirectQueue implements WorkQueue {
  readonly url: string;
  readonly #ledger: Ledger;
  readonly #options: WorkQueueOptions;
  readonly #clock: Clock;

  constructor(ledger: Ledger, options: WorkQueueOptions, clock: Clock = systemClock) {
    this.url = ledger.url;
    this.#ledger = ledger;
    this.#options = options;
    this.#clock = clock;
  }

  prepare(): Promise<void> {
    return this.#ledger.prepare();
  }

  plan(): Promise<readonly string[]> {
    return this.#ledger.plan();
  }

  async pull(
    max: number,
    options: { readonly waitMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly Delivery[]> {
    const { leaseMs, holder } = this.#options;
    const end = this.#clock.monotonic() + options.waitMs;
    for (;;) {
      const items = await this.#ledger.lease(max, leaseMs, holder);
      // The holder and the item say it all: a lease needs no receipt of its own.
      if (items.length > 0) return items.map((item) => ({ ...item, receipt: "" }));
      const leftMs = end - this.#clock.monotonic();
      if (leftMs <= 0 || options.signal?.aborted) return [];
      await this.#ledger.wait(leftMs, options.signal);
    }
  }

  start(deliveries: readonly Delivery[], options: { readonly isIdle: boolean }): Promise<readonly StartOutcome[]> {
    return this.#ledger.start(keysOf(deliveries), { ...this.#options, isIdle: options.isIdle });
  }

  renew(deliveries: readonly Delivery[]): Promise<readonly ItemKey[]> {
    return this.#ledger.renew(keysOf(deliveries), this.#options.leaseMs, this.#options.holder);
  }

  settle(settlements: readonly (Settlement & { readonly delivery: Delivery })[]): Promise<readonly SettleOutcome[]> {
    return this.#ledger.settle(settlements, this.#options);
  }

  release(deliveries: readonly Delivery[]): Promise<void> {
    return this.#ledger.release(keysOf(deliveries), this.#options.holder);
  }

  isDrained(): Promise<boolean> {
    return this.#ledger.isDrained();
  }

  depth(): Promise<Depth> {
    return this.#ledger.depth();
  }

  close(): Promise<void> {
    return this.#ledger.close();
  }
}

function keysOf(deliveries: readonly Delivery[]): ItemKey[] {
  return deliveries.map(({ id, generation }) => ({ id, generation }));
}
