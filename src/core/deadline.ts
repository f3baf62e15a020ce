import type { Clock } from "./clock.ts";

/** A moment by which everything must be over. Made once, from the notice, and handed to every step of stopping. */
export class Deadline {
  readonly #clock: Clock;
  readonly #at: number;

  private constructor(clock: Clock, at: number) {
    this.#clock = clock;
    this.#at = at;
  }

  /** A deadline `ms` from now. */
  static in(ms: number, clock: Clock): Deadline {
    return new Deadline(clock, clock.monotonic() + ms);
  }

  /** A deadline at a wall-clock time; measured from now, so a later clock change does not move it. */
  static atTime(epochMs: number, clock: Clock): Deadline {
    return Deadline.in(epochMs - clock.now(), clock);
  }

  /** Milliseconds left; never negative. */
  remainingMs(): number {
    return Math.max(0, this.#at - this.#clock.monotonic());
  }

  isOver(): boolean {
    return this.remainingMs() === 0;
  }

  /** The same deadline moved `ms` earlier, to keep a reserve for the steps that follow. */
  minus(ms: number): Deadline {
    return new Deadline(this.#clock, this.#at - ms);
  }

  /** The earlier of this and another. */
  orEarlier(other: Deadline): Deadline {
    return other.#at < this.#at ? other : this;
  }

  /** A signal that aborts when time is up, or when `signal` aborts. */
  signal(signal?: AbortSignal): AbortSignal {
    const timeUp = AbortSignal.timeout(Math.ceil(this.remainingMs()));
    return signal ? AbortSignal.any([timeUp, signal]) : timeUp;
  }
}
