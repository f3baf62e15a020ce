/** Bytes per millisecond assumed until something was measured: a slow disk or link. */
const firstGuess = 100_000;
/** A shipment under way tells nothing before it has gone on for so long. */
const telling = 1000;
/** What may be on its way without being acknowledged; on average half of it is there. */
const underWay = 64 * 1024 * 1024;

/** A shipment that came so near the limit it was held to says nothing about the link. */
const held = 0.8;

/** How fast this start ships when nothing holds it back, measured; newer shipments weigh more, and the one under way most. */
export class ShipRate {
  readonly #limit: number;
  #bytesPerMs: number | undefined;
  #now: number | undefined;
  #lastBytes = 0;
  #overheadMs = 200;

  /** `maxRate` is what shipments beside a running program are held to, in bytes per second. */
  constructor(maxRate?: number) {
    this.#limit = (maxRate ?? Number.POSITIVE_INFINITY) / 1000;
  }

  /** Takes in a finished shipment: bytes of the checkpoint (reused ones too) and the time from first read to commit. */
  add(bytes: number, ms: number): void {
    this.#lastBytes = bytes;
    // A tiny checkpoint measures the round trips, not the rate.
    if (bytes < 1 << 20) {
      this.#overheadMs = Math.max(50, ms);
      return;
    }
    const measured = bytes / Math.max(1, ms);
    if (this.#isHeld(measured)) return;
    this.#bytesPerMs = this.#bytesPerMs === undefined ? measured : 0.5 * this.#bytesPerMs + 0.5 * measured;
  }

  /**
   * Looks at a shipment under way: how much the store has acknowledged within `ms`, and how much is left. A link that has become slow shows
   * here before any shipment is over.
   */
  observe(doneBytes: number, leftBytes: number, ms: number): void {
    if (ms < telling) return;
    const seen = (doneBytes + Math.min(leftBytes, underWay) / 2) / ms;
    this.#now = this.#isHeld(seen) ? undefined : seen;
  }

  /** No shipment is under way any more: what was seen of it need not hold for the next. */
  forget(): void {
    this.#now = undefined;
  }

  /** Size of the last shipment: what a save at the last moment will probably have. */
  get lastBytes(): number {
    return this.#lastBytes;
  }

  /** Milliseconds to ship this much. */
  predictMs(bytes: number): number {
    return bytes === 0 ? 0 : this.#overheadMs + bytes / (this.#now ?? this.#bytesPerMs ?? firstGuess);
  }

  #isHeld(bytesPerMs: number): boolean {
    return bytesPerMs >= held * this.#limit && bytesPerMs <= 2 * this.#limit;
  }
}
