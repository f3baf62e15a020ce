import { type Clock, Deadline } from "../core/index.ts";
import { planStop } from "./stop-plan.ts";
import type { WorkerVerdict } from "./types.ts";

export interface StopHooks {
  /** Handlers must not be waited for any longer. */
  readonly onCut: () => void;
  /** Handlers are killed. */
  readonly onLastCall: () => void;
  /** The process should be gone by now. */
  readonly onOverdue: () => void;
}

/** The stop of a worker: why, since when, until when. The first cause counts; a later request can only bring the end nearer. */
export class StopState {
  readonly #clock: Clock;
  readonly #hooks: StopHooks;
  readonly #over = new AbortController();
  #verdict: Exclude<WorkerVerdict, "drained"> | undefined;
  #noticedAtMs: number | undefined;
  #cut: Deadline | undefined;
  #lastCall: Deadline | undefined;

  constructor(clock: Clock, hooks: StopHooks) {
    this.#clock = clock;
    this.#hooks = hooks;
  }

  get verdict(): Exclude<WorkerVerdict, "drained"> | undefined {
    return this.#verdict;
  }

  get isRequested(): boolean {
    return this.#verdict !== undefined;
  }

  get noticedAtMs(): number | undefined {
    return this.#noticedAtMs;
  }

  /** Milliseconds that handlers still have; without a request, no end. */
  untilCutMs(): number {
    return this.#cut?.remainingMs() ?? Number.POSITIVE_INFINITY;
  }

  /** Milliseconds until nothing is waited for any longer; without a request, no end. */
  untilLastCallMs(): number {
    return this.#lastCall?.remainingMs() ?? Number.POSITIVE_INFINITY;
  }

  /** Asks for a stop that is over `graceMs` from now; says whether it is the first, and does nothing unless it is nearer. */
  request(verdict: Exclude<WorkerVerdict, "drained">, graceMs: number): "first" | "nearer" | "nothing" {
    const plan = planStop(graceMs);
    const isFirst = this.#verdict === undefined;
    if (!isFirst && plan.lastCallMs >= this.untilLastCallMs()) return "nothing";
    this.#verdict ??= verdict;
    this.#noticedAtMs ??= this.#clock.monotonic();
    this.#cut = Deadline.in(plan.cutMs, this.#clock);
    this.#lastCall = Deadline.in(plan.lastCallMs, this.#clock);
    // An earlier request's timers may stay: they only fire later than these.
    void this.#after(plan.cutMs, this.#hooks.onCut);
    void this.#after(plan.lastCallMs, this.#hooks.onLastCall);
    void this.#after(plan.overdueMs, this.#hooks.onOverdue);
    return isFirst ? "first" : "nearer";
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
