import type { Delivery } from "../queue/index.ts";
import type { Claim, ItemKey } from "../results/index.ts";

/** An item whose start was recorded; it must be settled or handed back. */
export interface StartedItem {
  readonly delivery: Delivery;
  readonly claim: Claim;
  readonly failures: number;
}

/** How an item is told from others in maps. */
export function keyOf({ id, generation }: ItemKey): string {
  return `${generation}:${id}`;
}

/**
 * Everything this worker holds: what was pulled and not started, suspects that wait for the worker to be idle, and what was started and is
 * not settled yet. The lease keeper renews all of it.
 */
export class InHand {
  readonly #waiting = new Map<string, Delivery>();
  readonly #suspects = new Map<string, Delivery>();
  readonly #started = new Map<string, StartedItem>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#suspects.size === 0 && this.#started.size === 0;
  }

  /** Whether anything is started and not yet settled. */
  get isIdle(): boolean {
    return this.#started.size === 0;
  }

  get hasSuspects(): boolean {
    return this.#suspects.size > 0;
  }

  /** All deliveries, for renewing. */
  all(): Delivery[] {
    const started = [...this.#started.values()].map(({ delivery }) => delivery);
    return [...this.#waiting.values(), ...this.#suspects.values(), ...started];
  }

  pulled(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.#waiting.set(keyOf(delivery), delivery);
  }

  /** Whether a pulled item is still ours to start. */
  holds(delivery: Delivery): boolean {
    return this.#waiting.has(keyOf(delivery));
  }

  started(item: StartedItem): void {
    this.#waiting.delete(keyOf(item.delivery));
    this.#started.set(keyOf(item.delivery), item);
  }

  mustWait(delivery: Delivery): void {
    this.#waiting.delete(keyOf(delivery));
    this.#suspects.set(keyOf(delivery), delivery);
  }

  /** The next suspect, which becomes an ordinary waiting item. */
  takeSuspect(): Delivery | undefined {
    for (const [key, delivery] of this.#suspects) {
      this.#suspects.delete(key);
      this.#waiting.set(key, delivery);
      return delivery;
    }
    return undefined;
  }

  /** No longer ours: settled, handed back, or never to be started here. */
  drop(item: ItemKey): void {
    const key = keyOf(item);
    this.#waiting.delete(key);
    this.#suspects.delete(key);
    this.#started.delete(key);
  }

  /** Drops what was lost before it was started. What was started is finished all the same: its result may still be the first. */
  lost(items: readonly ItemKey[]): void {
    for (const item of items) {
      this.#waiting.delete(keyOf(item));
      this.#suspects.delete(keyOf(item));
    }
  }

  /** Takes out everything that was never started. */
  takeUnstarted(): Delivery[] {
    const all = [...this.#waiting.values(), ...this.#suspects.values()];
    this.#waiting.clear();
    this.#suspects.clear();
    return all;
  }

  /** Everything started and not settled. */
  unsettled(): StartedItem[] {
    return [...this.#started.values()];
  }
}
