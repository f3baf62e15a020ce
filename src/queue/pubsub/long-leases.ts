import type { Clock } from "../../core/index.ts";

/** The longest that Pub/Sub lets a message be held by one request. */
export const longestDeadlineMs = 600_000;
const everyMs = longestDeadlineMs / 2;

/**
 * Keeps leases that are longer than Pub/Sub's longest: extends them again and again until they end. A process that dies stops extending,
 * so such a lease then ends within ten minutes.
 */
export class LongLeases {
  readonly #clock: Clock;
  readonly #extend: (receipts: readonly string[]) => Promise<void>;
  readonly #ends = new Map<string, number>();
  #stop: AbortController | undefined;

  constructor(clock: Clock, extend: (receipts: readonly string[]) => Promise<void>) {
    this.#clock = clock;
    this.#extend = extend;
  }

  /** Notes leases given or renewed just now; shorter ones need no care. */
  note(receipts: readonly string[], leaseMs: number): void {
    if (leaseMs <= longestDeadlineMs) return this.forget(receipts);
    const end = this.#clock.monotonic() + leaseMs;
    for (const receipt of receipts) this.#ends.set(receipt, end);
    if (!this.#stop) void this.#keep();
  }

  forget(receipts: readonly string[]): void {
    for (const receipt of receipts) this.#ends.delete(receipt);
    if (this.#ends.size === 0) this.#stop?.abort();
  }

  close(): void {
    this.#ends.clear();
    this.#stop?.abort();
  }

  async #keep(): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    while (!stop.signal.aborted) {
      await this.#clock.sleep(everyMs, stop.signal);
      const now = this.#clock.monotonic();
      for (const [receipt, end] of this.#ends) if (end <= now) this.#ends.delete(receipt);
      if (stop.signal.aborted || this.#ends.size === 0) break;
      // One that fails is tried again before the deadline ends; the worker's own renewals say what is wrong.
      await this.#extend([...this.#ends.keys()]).catch(() => undefined);
    }
    this.#stop = undefined;
    if (this.#ends.size > 0) void this.#keep();
  }
}
