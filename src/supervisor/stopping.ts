import { type Clock, Deadline } from "../core/index.ts";
import { StopTimes } from "./stop-budget.ts";
import type { StopCause } from "./verdict.ts";

/** What a request to stop changed. */
export type RequestEffect = "first" | "shortened" | "nothing";

/** The stop of one start: why, since when, until when. The first cause counts; a later request can only bring the deadline nearer. */
export class Stopping {
  readonly #clock: Clock;
  readonly #onOverdue: () => void;
  readonly #requested = Promise.withResolvers<void>();
  readonly #lastCall = Promise.withResolvers<void>();
  readonly #hurry = new AbortController();
  readonly #over = new AbortController();
  #cause: StopCause | undefined;
  #times: StopTimes | undefined;
  #noticedAtMs: number | undefined;

  /** `onOverdue` is called when the process should have ended by now and has not. */
  constructor(clock: Clock, onOverdue: () => void) {
    this.#clock = clock;
    this.#onOverdue = onOverdue;
  }

  get cause(): StopCause | undefined {
    return this.#cause;
  }

  get times(): StopTimes | undefined {
    return this.#times;
  }

  /** Monotonic time of the first request. */
  get noticedAtMs(): number | undefined {
    return this.#noticedAtMs;
  }

  /** Resolves at the first request. */
  get requested(): Promise<void> {
    return this.#requested.promise;
  }

  /** Resolves when nothing may be waited for any longer; never without a request. */
  get lastCall(): Promise<void> {
    return this.#lastCall.promise;
  }

  /** Aborts when the child must not be waited for any longer. */
  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }

  /** Asks for a stop that is over `graceMs` from now. */
  request(cause: StopCause, graceMs: number): RequestEffect {
    const times = new StopTimes(Deadline.in(graceMs, this.#clock));
    const isFirst = this.#cause === undefined;
    if (!isFirst && this.#times !== undefined && times.untilOverdueMs() >= this.#times.untilOverdueMs())
      return "nothing";
    this.#cause ??= cause;
    this.#noticedAtMs ??= this.#clock.monotonic();
    this.#times = times;
    // An earlier request's timers may stay: they only fire later than these.
    void this.#after(times.untilLastCallMs(), () => this.#lastCall.resolve());
    void this.#after(times.untilOverdueMs(), this.#onOverdue);
    this.#requested.resolve();
    return isFirst ? "first" : "shortened";
  }

  /** Stops waiting for the child. */
  force(): void {
    this.#hurry.abort();
  }

  /** All is over: no timer fires from now on. */
  end(): void {
    this.#over.abort();
  }

  async #after(ms: number, act: () => void): Promise<void> {
    await this.#clock.sleep(ms, this.#over.signal);
    if (!this.#over.signal.aborted) act();
  }
}
