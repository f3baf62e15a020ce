/** Bytes per millisecond assumed until something was measured: a slow disk or link. */
const firstGuess = 100_000;

/** How fast this start ships, measured; newer shipments weigh more. */
export class ShipRate {
  #bytesPerMs: number | undefined;
  #lastBytes = 0;
  #overheadMs = 200;

  /** Takes in a finished shipment: bytes of the checkpoint (reused ones too) and the time from first read to commit. */
  add(bytes: number, ms: number): void {
    this.#lastBytes = bytes;
    // A tiny checkpoint measures the round trips, not the rate.
    if (bytes < 1 << 20) {
      this.#overheadMs = Math.max(50, ms);
      return;
    }
    const measured = bytes / Math.max(1, ms);
    this.#bytesPerMs = this.#bytesPerMs === undefined ? measured : 0.5 * this.#bytesPerMs + 0.5 * measured;
  }

  /** Size of the last shipment: what a save at the last moment will probably have. */
  get lastBytes(): number {
    return this.#lastBytes;
  }

  /** Milliseconds to ship this much. */
  predictMs(bytes: number): number {
    return bytes === 0 ? 0 : this.#overheadMs + bytes / (this.#bytesPerMs ?? firstGuess);
  }
}
