import type { Delivery, WorkQueue } from "../queue/index.ts";
import type { EndedItem } from "./chunk-at-work.ts";
import type { Counter } from "./counter.ts";
import type { InHand } from "./in-hand.ts";
import type { Notifier } from "./notifier.ts";
import type { Patience } from "./patience.ts";

/** A worker that cannot go on spends no more than this on handing back what it has. */
export const failedGraceMs = 5000;

export interface SettlerOptions {
  readonly queue: Pick<WorkQueue, "settle" | "release">;
  readonly patience: Patience;
  readonly counter: Counter;
  readonly inHand: InHand;
  readonly notifier: Notifier;
  /** Milliseconds that a call may still be repeated. */
  readonly untilLastCallMs: () => number;
  readonly isStopping: () => boolean;
  /** A settlement could not be stored, and nobody asked the worker to stop: it cannot go on. */
  readonly onFailure: (error: unknown) => void;
  readonly onTrouble: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** Stores how items ended, and gives back what was never started. Neither call rejects. */
export class Settler {
  readonly #options: SettlerOptions;

  constructor(options: SettlerOptions) {
    this.#options = options;
  }

  async settle(items: readonly EndedItem[]): Promise<void> {
    if (items.length === 0) return;
    const { queue, patience, counter, inHand, notifier, untilLastCallMs, isStopping, onFailure, onTrouble } =
      this.#options;
    const settlements = items.map(({ delivery, claim, ending }) => {
      const { id, generation } = delivery;
      return { id, generation, claim, ending, delivery };
    });
    try {
      const outcomes = await patience.call("settle", () => queue.settle(settlements), untilLastCallMs);
      counter.settled(items, outcomes);
    } catch (error) {
      if (isStopping())
        onTrouble("items could not be settled in time; they come back when their leases run out", {
          items: items.length,
          error,
        });
      else onFailure(error);
    }
    for (const { delivery } of items) inHand.drop(delivery);
    notifier.notify();
  }

  async release(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const { queue, patience, untilLastCallMs, onTrouble } = this.#options;
    try {
      await patience.call(
        "release",
        () => queue.release(deliveries),
        () => Math.min(failedGraceMs, untilLastCallMs()),
      );
    } catch (error) {
      onTrouble("items could not be given back in time; they come back when their leases run out", {
        items: deliveries.length,
        error,
      });
    }
  }
}
