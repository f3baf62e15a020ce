import { type Clock, systemClock } from "../../core/index.ts";

/** As much may go out at once after a pause; more would be a burst, less would make every slice wait for a timer. */
const burstMs = 50;
/** How soon a waiting thread finds that the limit was lifted. */
const lookMs = 50;

/** The system's clock with a monotonic time that all threads share: `performance.now()` begins at each thread's start. */
export const threadsClock: Clock = { ...systemClock, monotonic: () => Number(process.hrtime.bigint()) / 1e6 };

/**
 * A limit on bytes per second that all threads keep together. The shared memory holds the time at which all bytes let through so far would have
 * gone out at the permitted rate; whoever wants to send moves it on by the time of its own bytes and waits until that begins. So
 * threads are served in the order they ask, and no byte is let through twice.
 */
export class SharedRate {
  readonly memory: SharedArrayBuffer;
  readonly #clock: Clock;
  /** [0] the time above, in microseconds; [1] bytes per second, 0 when lifted. */
  readonly #state: BigInt64Array;

  constructor(memory: SharedArrayBuffer, clock: Clock = threadsClock) {
    this.memory = memory;
    this.#clock = clock;
    this.#state = new BigInt64Array(memory);
  }

  /** A limit of `bytesPerSecond`. */
  static of(bytesPerSecond: number, clock: Clock = threadsClock): SharedRate {
    const rate = new SharedRate(new SharedArrayBuffer(16), clock);
    Atomics.store(rate.#state, 1, BigInt(Math.max(1, Math.round(bytesPerSecond))));
    return rate;
  }

  /** Lets everything through from now on, those who wait included. */
  lift(): void {
    Atomics.store(this.#state, 1, 0n);
  }

  /** Resolves when `bytes` may be sent; at once when `signal` aborts. */
  async take(bytes: number, signal?: AbortSignal): Promise<void> {
    const at = this.#reserve(bytes);
    for (;;) {
      const leftMs = at - this.#clock.monotonic();
      if (leftMs <= 0 || signal?.aborted || Atomics.load(this.#state, 1) === 0n) return;
      await this.#clock.sleep(Math.min(leftMs, lookMs), signal);
    }
  }

  /** Takes the next `bytes` and says from when they may go. */
  #reserve(bytes: number): number {
    const perSecond = Number(Atomics.load(this.#state, 1));
    if (perSecond === 0) return 0;
    const costUs = BigInt(Math.ceil((bytes * 1e6) / perSecond));
    for (;;) {
      const earliest = BigInt(Math.floor((this.#clock.monotonic() - burstMs) * 1000));
      const before = Atomics.load(this.#state, 0);
      const begins = before > earliest ? before : earliest;
      if (Atomics.compareExchange(this.#state, 0, before, begins + costUs) === before) return Number(begins) / 1000;
    }
  }
}
