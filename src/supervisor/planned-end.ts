import type { Clock } from "../core/index.ts";

/** What a planned end asks for at a moment. */
export type PlannedAct = "nothing" | "ask-to-save" | "stop";

/** How far ahead of a planned end things begin. */
export interface PlannedEndOptions {
  readonly clock: Clock;
  readonly graceMs: number;
  /** At least this long before the end the child is asked to save. @default 60_000 */
  readonly minLeadMs?: number | undefined;
}

/**
 * A known end of the machine: a notice that comes early. Ahead of it, by twice the time a save and its upload take, the child is asked to
 * save; once that save is committed nothing can be lost, and the start is stopped. A child that does not listen on the socket, or does not save,
 * is stopped one grace period before the end.
 */
export class PlannedEnd {
  readonly #options: PlannedEndOptions;
  #endsAtMs: number | undefined;
  #isAsked = false;
  #awaited: { step: number | undefined } | undefined;
  #isCommitted = false;

  constructor(options: PlannedEndOptions) {
    this.#options = options;
  }

  /** Sets or moves the end; wall-clock milliseconds since 1970. */
  set(endsAtMs: number): void {
    this.#endsAtMs = endsAtMs;
  }

  /** Milliseconds left; a grace period when the end is already past and we are still here. */
  get remainingMs(): number {
    const left = (this.#endsAtMs ?? 0) - this.#options.clock.now();
    return left > 0 ? left : this.#options.graceMs;
  }

  /** What to do now. `saveMs` and `flushMs` are estimates of a save and of its upload. */
  next(canAsk: boolean, saveMs: number, flushMs: number): PlannedAct {
    if (this.#endsAtMs === undefined) return "nothing";
    const { clock, graceMs, minLeadMs = 60_000 } = this.#options;
    const left = this.#endsAtMs - clock.now();
    if (left <= graceMs || this.#isCommitted) return "stop";
    if (this.#isAsked || !canAsk || left > Math.max(minLeadMs, 2 * (saveMs + flushMs) + graceMs)) return "nothing";
    this.#isAsked = true;
    return "ask-to-save";
  }

  /** A checkpoint was saved; the first one after the request is the one to wait for. */
  saved(step: number | undefined): void {
    if (this.#isAsked) this.#awaited ??= { step };
  }

  /** A checkpoint was committed. */
  committed(step: number): void {
    const awaited = this.#awaited;
    if (awaited !== undefined && step >= (awaited.step ?? 0)) this.#isCommitted = true;
  }
}
