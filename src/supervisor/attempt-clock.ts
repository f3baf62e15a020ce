import type { Clock } from "../core/index.ts";
import type { AttemptTime } from "./journal.ts";

/** Measures where the time of one start goes. */
export class AttemptClock {
  readonly #clock: Clock;
  readonly #beganAtMs: number;
  #childStartedAtMs: number | undefined;
  #childEndedAtMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beganAtMs = clock.monotonic();
  }

  noteChildStarted(): void {
    this.#childStartedAtMs = this.#clock.monotonic();
  }

  noteChildEnded(): void {
    this.#childEndedAtMs = this.#clock.monotonic();
  }

  /** Milliseconds since the child was started; undefined before. */
  get sinceChildStartMs(): number | undefined {
    return this.#childStartedAtMs === undefined ? undefined : this.#clock.monotonic() - this.#childStartedAtMs;
  }

  /** The time so far, split at the child's start and at the notice or the child's end, whichever came first. */
  split(noticedAtMs: number | undefined): AttemptTime {
    const now = this.#clock.monotonic();
    const started = this.#childStartedAtMs ?? noticedAtMs ?? now;
    const stopped = Math.max(started, Math.min(noticedAtMs ?? now, this.#childEndedAtMs ?? now));
    return { restoringMs: started - this.#beganAtMs, runningMs: stopped - started, stoppingMs: now - stopped };
  }
}
