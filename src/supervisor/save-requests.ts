import type { Clock } from "../core/index.ts";

/** Decides when the child should be asked to save. */
export class SaveRequests {
  readonly #clock: Clock;
  #sinceMs: number;
  #askedAtMs: number | undefined;
  #saveMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonic();
  }

  /** The child saved: the interval begins anew. Measures how long a requested save took. */
  saved(): void {
    const now = this.#clock.monotonic();
    if (this.#askedAtMs !== undefined) this.#saveMs = now - this.#askedAtMs;
    this.#askedAtMs = undefined;
    this.#sinceMs = now;
  }

  /** Whether a save is due; true once per interval, until the next save. */
  isDue(intervalMs: number | undefined): boolean {
    if (intervalMs === undefined || this.#askedAtMs !== undefined) return false;
    return this.#clock.monotonic() - this.#sinceMs >= intervalMs;
  }

  /** Notes that the child was asked. */
  asked(): void {
    this.#askedAtMs = this.#clock.monotonic();
  }

  /** How long the last requested save took, if any was. */
  get saveMs(): number | undefined {
    return this.#saveMs;
  }
}
