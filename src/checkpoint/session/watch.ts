import type { Clock, Emitter } from "../../core/index.ts";
import type { CompleteCheckpoint } from "../detect/index.ts";
import type { LogState } from "../log/state.ts";
import type { FinishOptions, SessionEvents } from "../session-types.ts";
import { saveCost } from "./save-cost.ts";
import type { ShipRate } from "./ship-rate.ts";
import { type Shipper, sizeOf } from "./shipper.ts";
import type { StepNumbers } from "./step-numbers.ts";
import type { WorkingDirectory } from "./working-directory.ts";

export interface WatchOptions {
  readonly place: WorkingDirectory;
  readonly shipper: Shipper;
  readonly steps: StepNumbers;
  readonly rate: ShipRate;
  readonly events: Emitter<SessionEvents>;
  readonly clock: Clock;
  /** How often to look. @default 500 */
  readonly pollMs?: number | undefined;
  /** The newest state of the log that was seen. */
  readonly state: () => LogState | undefined;
  /** Whether this start can no longer commit. */
  readonly hasEnded: () => boolean;
}

/** Finds complete checkpoints and ships them: the newest at a time while the program runs, and what is left once it has ended. */
export class Watch {
  readonly #options: WatchOptions;
  /** Fingerprints of checkpoints that are committed or passed over. */
  readonly #handled = new Set<string>();
  readonly #stop = new AbortController();
  #wake = new AbortController();
  /** Shipments that failed in a row, and when the next may begin. */
  #failures = 0;
  #notBeforeMs = 0;
  #saveCostMs: number | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** How long the program took for its newest save, if that is known. */
  get saveCostMs(): number | undefined {
    return this.#saveCostMs;
  }

  /** Looks and ships until {@link stop}. */
  async run(pid: number): Promise<void> {
    const { clock, pollMs = 500, hasEnded } = this.#options;
    let backoffMs = 0;
    while (!this.#stop.signal.aborted && !hasEnded()) {
      const started = clock.monotonic();
      this.#wake = new AbortController();
      try {
        await this.#look(pid);
        backoffMs = 0;
      } catch (error) {
        backoffMs = Math.min(30_000, Math.max(1000, backoffMs * 2));
        this.#warn(`the checkpoint directory could not be looked at; trying again in ${backoffMs / 1000} s`, error);
      }
      // A look at a huge directory takes time; looking must not take all of it.
      const pauseMs = Math.max(pollMs, backoffMs, 4 * (clock.monotonic() - started));
      await clock.sleep(pauseMs, AbortSignal.any([this.#wake.signal, this.#stop.signal]));
    }
  }

  async #look(pid: number): Promise<void> {
    const fresh = await this.#fresh({ state: "running", pid });
    const newest = fresh.at(-1);
    if (!newest || this.#options.shipper.current || this.#stop.signal.aborted) return;
    if (this.#options.clock.monotonic() < this.#notBeforeMs) return;
    // Newest first, at most one waiting: older ones that piled up meanwhile are history.
    for (const older of fresh.slice(0, -1)) this.#skip(older, "a newer checkpoint is complete");
    void this.#options.shipper.ship(newest, { background: true }).then((end) => {
      if (end === "done") this.#handled.add(newest.fingerprint);
      this.#failures = end === "failed" ? this.#failures + 1 : 0;
      if (end !== "failed") this.#wake.abort();
      else this.#notBeforeMs = this.#options.clock.monotonic() + Math.min(60_000, 500 * 2 ** this.#failures);
    });
  }

  async #fresh(writer: FinishOptions["writer"]): Promise<readonly CompleteCheckpoint[]> {
    const { place, steps, state, events } = this.#options;
    const fresh = await place.fresh(writer, (checkpoint) => {
      this.#saveCostMs = saveCost(checkpoint) ?? this.#saveCostMs;
      const step = checkpoint.step ?? steps.of(checkpoint, state()) ?? 0;
      events.emit("session:saved", { step, path: checkpoint.path, bytes: sizeOf(checkpoint) });
    });
    return fresh.filter((checkpoint) => !this.#handled.has(checkpoint.fingerprint));
  }

  #skip(checkpoint: CompleteCheckpoint, why: string): void {
    this.#handled.add(checkpoint.fingerprint);
    this.#options.events.emit("session:skipped", { step: checkpoint.step ?? 0, why });
  }

  /** The newest complete checkpoint that is not committed, once the program has ended or time is short. */
  async #finalLook({ writer, deadline }: FinishOptions): Promise<CompleteCheckpoint | undefined> {
    let newest: CompleteCheckpoint | undefined;
    for (let look = 1; look <= 6; look += 1) {
      try {
        newest = (await this.#fresh(writer)).at(-1);
      } catch (error) {
        this.#warn("the checkpoint directory could not be looked at", error);
      }
      // A dead program finishes nothing: what is not complete at the second look will not be.
      const isFinal = this.#options.place.detector.waitingFor === undefined || (writer.state === "died" && look > 1);
      if (isFinal || deadline?.isOver()) break;
      await this.#options.clock.sleep(250);
    }
    return newest;
  }

  /** Ships at the end; what fails for a passing reason is tried again while there is time. */
  async #shipUntil(newest: CompleteCheckpoint, options: FinishOptions): Promise<void> {
    let next: CompleteCheckpoint | undefined = newest;
    for (let attempt = 1; attempt <= 5 && next && !this.#handled.has(next.fingerprint); attempt += 1) {
      if (options.deadline?.isOver() || this.#options.hasEnded()) return;
      const { fingerprint }: CompleteCheckpoint = next;
      if ((await this.#options.shipper.ship(next, { deadline: options.deadline })) === "done") {
        this.#handled.add(fingerprint);
        return;
      }
      await this.#options.clock.sleep(Math.min(100 * 2 ** attempt, options.deadline?.remainingMs() ?? 60_000));
      next = await this.#finalLook(options);
    }
  }

  /** Looks at once. */
  wake(): void {
    this.#wake.abort();
  }

  /** Looks no more; what is under way goes on. */
  stop(): void {
    this.#stop.abort();
    this.#wake.abort();
  }

  /**
   * Ships what is left once the program has ended, as far as the deadline allows; answers with the step of the newest complete checkpoint if that is not
   * committed.
   */
  async finish(options: FinishOptions): Promise<number | undefined> {
    const { shipper, rate, steps, state } = this.#options;
    const { deadline } = options;
    const newest = await this.#finalLook(options);
    const isWaiting = newest !== undefined && newest.fingerprint !== shipper.current?.fingerprint;
    // When only one of the two fits, the newer one.
    const newestMs = isWaiting ? rate.predictMs(sizeOf(newest)) : 0;
    const leftMs = deadline?.remainingMs() ?? Number.POSITIVE_INFINITY;
    const abort = isWaiting && newestMs <= leftMs && newestMs + shipper.remainingMs() > leftMs;
    await shipper.settle({ abort, deadline });
    if (!newest) return undefined;
    await this.#shipUntil(newest, options);
    return this.#handled.has(newest.fingerprint) ? undefined : (newest.step ?? steps.of(newest, state()));
  }

  #warn(message: string, error: unknown): void {
    this.#options.events.emit("session:warning", { message, error });
  }
}
