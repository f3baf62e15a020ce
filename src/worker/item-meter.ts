const weight = 0.2;

/** Learns how long an item takes, from the answers as they come. */
export class ItemMeter {
  #meanMs: number | undefined;
  #spreadMs = 0;

  /** One item took `ms`. */
  add(ms: number): void {
    if (this.#meanMs === undefined) {
      this.#meanMs = ms;
      this.#spreadMs = ms / 2;
      return;
    }
    const off = ms - this.#meanMs;
    this.#meanMs += weight * off;
    this.#spreadMs += weight * (Math.abs(off) - this.#spreadMs);
  }

  /** How long the next item takes at worst, as far as one can tell; undefined before the first answer. */
  get expectedMs(): number | undefined {
    return this.#meanMs === undefined ? undefined : Math.max(0.01, this.#meanMs + 2 * this.#spreadMs);
  }

  /** How many of `count` items, handled one after the other, will be finished in `availableMs`; the first has run for `elapsedMs`. */
  fitting(count: number, availableMs: number, elapsedMs: number): number {
    const each = this.expectedMs;
    // Never measured: an item that nobody knows to fit is better begun elsewhere at once.
    if (each === undefined) return 0;
    return Math.min(count, Math.max(0, Math.floor((availableMs + Math.min(elapsedMs, each)) / each)));
  }
}
