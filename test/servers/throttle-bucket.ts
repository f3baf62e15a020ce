import { setTimeout as sleep } from "node:timers/promises";

/** Timers are coarse: shorter waits than this are added up. */
const grainMs = 4;

/** Hands out bytes at a steady rate to any number of takers, in the order they ask. */
export class ThrottleBucket {
  readonly #ended = new AbortController();
  #bytesPerSecond: number;
  /** When all that was handed out will have passed; monotonic milliseconds. */
  #busyUntil = 0;
  #changed: { readonly promise: Promise<void>; readonly resolve: () => void } = Promise.withResolvers<void>();

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  get bytesPerSecond(): number {
    return this.#bytesPerSecond;
  }

  /** Takes effect at once, for those who wait too when it was 0 before. */
  set bytesPerSecond(rate: number) {
    this.#bytesPerSecond = rate;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }

  /** Resolves when so many bytes may have passed; never while the rate is 0. */
  async take(bytes: number): Promise<void> {
    while (this.#bytesPerSecond === 0) await this.#changed.promise;
    const now = performance.now();
    this.#busyUntil = Math.max(now, this.#busyUntil) + (bytes / this.#bytesPerSecond) * 1000;
    const waitMs = this.#busyUntil - now;
    if (waitMs >= grainMs) await sleep(waitMs, undefined, { signal: this.#ended.signal });
  }

  /** Ends all waiting, in an error. */
  end(): void {
    this.#ended.abort();
  }
}
