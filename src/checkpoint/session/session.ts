import { join } from "node:path";
import { Emitter, OutlastError } from "../../core/index.ts";
import type { CompleteCheckpoint } from "../detect/index.ts";
import { finishShard } from "../finish-shard.ts";
import { preferredHash } from "../hash.ts";
import { saveInterval } from "../interval.ts";
import { recordTime } from "../log/record-time.ts";
import { RunLog } from "../log/run-log.ts";
import { type CommitState, type LogState, targetOf } from "../log/state.ts";
import { getManifest } from "../manifest-codec.ts";
import { isDamage } from "../read-newest.ts";
import { openRun, type RunStore } from "../run-store.ts";
import type {
  Beginning,
  CheckpointSession,
  FinishOptions,
  FinishReport,
  Resume,
  SessionEvents,
} from "../session-types.ts";
import { type RestoreOutcome, settleTarget } from "../settle-target.ts";
import { ReuseBook } from "../ship/reuse-book.ts";
import { takeOver } from "../take-over.ts";
import { endOfTenure, requireTenure, type Tenure } from "../tenure.ts";
import { Background } from "./background.ts";
import { restoreCommit } from "./restore-commit.ts";
import { saveCost } from "./save-cost.ts";
import { stepTime } from "./step-time.ts";
import type { SessionOptions } from "./session-options.ts";
import { ShipRate } from "./ship-rate.ts";
import { Shipper, sizeOf } from "./shipper.ts";
import { StepNumbers } from "./step-numbers.ts";
import { WorkingDirectory } from "./working-directory.ts";

/** What a start has once it has begun. */
interface Begun {
  readonly tenure: Tenure;
  readonly place: WorkingDirectory;
  readonly shipper: Shipper;
  readonly background: Background;
}

/** The checkpoint side of one start of a run that saves. */
export class Session implements CheckpointSession {
  readonly events: Emitter<SessionEvents> = new Emitter();
  readonly #options: SessionOptions;
  readonly #run: RunStore;
  readonly #log: RunLog;
  readonly #rate = new ShipRate();
  readonly #book = new ReuseBook();
  readonly #steps: StepNumbers;
  /** Fingerprints of checkpoints that are committed or passed over. */
  readonly #handled = new Set<string>();
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #begun: Begun | undefined;
  #resume: Resume | undefined;
  #hasEnded = false;
  #isNoticed = false;
  /** Checkpoints that the program has called saved since the notice. */
  readonly #vouchedFor = new Set<string>();
  #shipments = 0;
  /** Shipments that failed in a row, and when the next may begin. */
  #failures = 0;
  #notBeforeMs = 0;
  #saveCostMs: number | undefined;
  #firstStartMs: number | undefined;
  #loops: readonly Promise<unknown>[] = [];

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#run = openRun(options.store, options.run);
    this.#log = new RunLog(this.#run, { clock: options.clock });
    this.#steps = new StepNumbers(options.dir);
    this.events.on("session:ended", () => {
      this.#hasEnded = true;
    });
  }

  async begin(signal?: AbortSignal): Promise<Beginning> {
    const { clock, shard = 0, of = 1, again = false } = this.#options;
    const started = clock.monotonic();
    const place = await WorkingDirectory.open(this.#options, (message, error) => this.#warn(message, error));
    const record = await takeOver(this.#run, this.#log, { shard, of, again, hash: preferredHash() }, signal);
    if (!record) return { kind: "already-finished" };
    await place.endOrphans();
    const epoch = record.n;
    const { target, tenure } = await settleTarget(
      this.#run,
      this.#log,
      {
        shard,
        of,
        epoch,
        clock,
        restore: (commit, state) => this.#restore(place, epoch, commit, state, signal),
        onDamaged: ({ step }, why) => this.events.emit("session:damaged", { step, why }),
        onWaiting: (missing) => this.events.emit("session:waiting", { missing, of }),
      },
      signal,
    );
    if (!target) {
      // Nothing is stored: what is in the directory is the beginning of the run.
      const { keep } = await place.plan(
        undefined,
        requireTenure(this.#log.seen, this.#run.run, tenure),
        async () => undefined,
      );
      this.#resume = await place.keep(keep, 1, epoch);
    }
    if (this.#resume) this.#steps.resumeFrom(target?.step ?? this.#resume.step - 1);
    await place.settle(epoch, target?.at ?? 0);
    const shipper = this.#createShipper(tenure, place);
    const background = new Background({
      ...this.#options,
      run: this.#run,
      log: this.#log,
      tenure,
      book: this.#book,
      events: this.events,
    });
    this.#begun = { tenure, place, shipper, background };
    const attempt = record.state.starts[shard] ?? 1;
    if (attempt > 1) await this.#readFirstStart();
    else this.#firstStartMs = Date.parse(record.at);
    const stepMs = stepTime(record.state.commits);
    return { kind: "start", epoch, attempt, resume: this.#resume, restoreMs: clock.monotonic() - started, stepMs };
  }

  watch(pid: number): void {
    const begun = this.#require();
    this.#loops = [begun.place.noteChild(pid), this.#lookLoop(begun, pid), begun.background.follow()];
    begun.background.tend();
  }

  childSaved(path: string | undefined, step: number | undefined): void {
    if (step !== undefined) this.#steps.say(path, step);
    if (this.#isNoticed && path !== undefined) this.#vouchedFor.add(this.#steps.relative(path));
    this.#wake.abort();
  }

  async noticed(): Promise<void> {
    const place = this.#begun?.place;
    if (!place || this.#isNoticed) return;
    this.#isNoticed = true;
    place.detector.noticed(await place.now());
  }

  predictedFlushMs(): number {
    if (!this.#begun || this.#hasEnded) return 0;
    return this.#begun.shipper.remainingMs() + this.#rate.predictMs(this.#rate.lastBytes);
  }

  saveIntervalMs(): number | undefined {
    if (this.#saveCostMs === undefined || this.#firstStartMs === undefined) return undefined;
    return saveInterval({
      saveCostMs: this.#saveCostMs,
      uploadMs: this.#rate.predictMs(this.#rate.lastBytes),
      evictions: (this.#log.seen?.state.starts[this.#options.shard ?? 0] ?? 1) - 1,
      uptimeMs: Math.max(0, this.#options.clock.now() - this.#firstStartMs),
    });
  }

  async finish(options: FinishOptions): Promise<FinishReport> {
    const begun = this.#begun;
    if (!begun) return { committedStep: undefined, lostStep: undefined };
    this.#stopLooking();
    // Under a deadline nothing but shipping is worth the time.
    if (options.deadline || this.#hasEnded) begun.background.halt();
    if (this.#hasEnded) {
      await begun.shipper.settle({ abort: true });
      return this.#report(undefined);
    }
    const { deadline } = options;
    const writer = options.saidFinished ? options.writer : this.#withNotice(options.writer);
    const newest = await this.#finalLook(begun, { writer, deadline });
    const isWaiting = newest !== undefined && newest.fingerprint !== begun.shipper.current?.fingerprint;
    // When only one of the two fits, the newer one.
    const newestMs = isWaiting ? this.#rate.predictMs(sizeOf(newest)) : 0;
    const leftMs = deadline?.remainingMs() ?? Number.POSITIVE_INFINITY;
    const abort = isWaiting && newestMs <= leftMs && newestMs + begun.shipper.remainingMs() > leftMs;
    await begun.shipper.settle({ abort, deadline });
    if (newest) await this.#shipUntil(begun, newest, { writer, deadline });
    if (options.writer.state === "died") await this.#checkTenure(begun, options);
    if (!options.deadline) await begun.background.settle();
    return this.#report(newest);
  }

  complete(signal?: AbortSignal): Promise<"all-done" | "gang-ended" | "superseded"> {
    const { tenure } = this.#require();
    return finishShard(this.#run, this.#log, tenure, { clock: this.#options.clock }, signal);
  }

  async close(): Promise<void> {
    this.#stopLooking();
    this.#begun?.background.halt();
    await this.#begun?.shipper.settle({ abort: true });
    await Promise.all(this.#loops);
    await this.#begun?.background.settle();
  }

  /** Restores a commit, unless the directory holds something newer of the same past. */
  async #restore(
    place: WorkingDirectory,
    epoch: number,
    commit: CommitState,
    state: LogState,
    signal: AbortSignal | undefined,
  ): Promise<RestoreOutcome> {
    const { clock, dir, transfer, shard = 0, of = 1 } = this.#options;
    const { step } = commit;
    if (commit.manifests.length !== of) {
      this.#warn(
        `step ${step} was saved by ${commit.manifests.length} shard(s) and is restored by ${of}: every shard gets all of it`,
      );
    }
    const started = clock.monotonic();
    try {
      const plan = await place.plan(commit, state, async () => {
        const ref = commit.manifests.find((manifest) => manifest.shard === shard);
        return ref && getManifest(this.#run, ref, state.hash, signal);
      });
      if (plan.keep.length > 0) {
        this.#resume = await place.keep(plan.keep, step + 1, epoch);
        return { ok: true };
      }
      const restored = await restoreCommit(
        {
          run: this.#run,
          transfer,
          dir,
          own: place.own,
          shard,
          of,
          epoch,
          clear: (path, isInPlace) => place.clear({ step, path }, epoch, !isInPlace),
          onProgress: (progress) => this.events.emit("session:progress", { what: "restoring", step, ...progress }),
        },
        commit,
        state,
        signal,
      );
      this.#book.add(commit.at, restored.manifests);
      this.#saveCostMs = restored.manifests[0]?.saveMs;
      this.#resume = { step, path: join(dir, restored.manifests[0]?.path ?? "") };
      const { bytes, fetchedBytes } = restored;
      this.events.emit("session:restored", { step, bytes, fetchedBytes, ms: clock.monotonic() - started });
      return { ok: true };
    } catch (error) {
      if (isDamage(error)) return { ok: false, damaged: error.message };
      throw error;
    }
  }

  #createShipper(tenure: Tenure, place: WorkingDirectory): Shipper {
    const { clock, transfer } = this.#options;
    return new Shipper({
      context: {
        run: this.#run,
        log: this.#log,
        tenure,
        transfer,
        book: this.#book,
        nextShipment: () => (this.#shipments += 1),
        onAbandoned: (owner) => this.#begun?.background.abandon(owner),
      },
      place,
      events: this.events,
      rate: this.#rate,
      clock,
      stepOf: (checkpoint) => this.#steps.of(checkpoint, this.#log.seen?.state),
      onCommitted: (commit, manifest) => {
        this.#book.add(commit.at, [manifest]);
        this.#begun?.background.tend();
      },
    });
  }

  async #lookLoop(begun: Begun, pid: number): Promise<void> {
    const { clock, pollMs = 500 } = this.#options;
    let backoffMs = 0;
    while (!this.#stop.signal.aborted && !this.#hasEnded) {
      const started = clock.monotonic();
      this.#wake = new AbortController();
      try {
        await this.#look(begun, pid);
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

  async #look(begun: Begun, pid: number): Promise<void> {
    const fresh = await this.#fresh(begun, { state: "running", pid });
    const newest = fresh.at(-1);
    if (!newest || begun.shipper.current || this.#stop.signal.aborted) return;
    if (this.#options.clock.monotonic() < this.#notBeforeMs) return;
    // Newest first, at most one waiting: older ones that piled up meanwhile are history.
    for (const older of fresh.slice(0, -1)) this.#skip(older, "a newer checkpoint is complete");
    void begun.shipper.ship(newest, { background: true }).then((end) => {
      if (end === "done") this.#handled.add(newest.fingerprint);
      this.#failures = end === "failed" ? this.#failures + 1 : 0;
      if (end !== "failed") this.#wake.abort();
      else this.#notBeforeMs = this.#options.clock.monotonic() + Math.min(60_000, 500 * 2 ** this.#failures);
    });
  }

  async #fresh(begun: Begun, writer: FinishOptions["writer"]): Promise<readonly CompleteCheckpoint[]> {
    const fresh = await begun.place.fresh(writer, (checkpoint) => {
      this.#saveCostMs = saveCost(checkpoint) ?? this.#saveCostMs;
      const step = checkpoint.step ?? this.#steps.of(checkpoint, this.#log.seen?.state) ?? 0;
      this.events.emit("session:saved", { step, path: checkpoint.path, bytes: sizeOf(checkpoint) });
    });
    return fresh.filter((checkpoint) => !this.#handled.has(checkpoint.fingerprint));
  }

  #skip(checkpoint: CompleteCheckpoint, why: string): void {
    this.#handled.add(checkpoint.fingerprint);
    this.events.emit("session:skipped", { step: checkpoint.step ?? 0, why });
  }

  /** The newest complete checkpoint that is not committed, once the program has ended or time is short. */
  async #finalLook(begun: Begun, { writer, deadline }: FinishOptions): Promise<CompleteCheckpoint | undefined> {
    let newest: CompleteCheckpoint | undefined;
    for (let look = 1; look <= 6; look += 1) {
      try {
        newest = (await this.#fresh(begun, writer)).at(-1);
      } catch (error) {
        this.#warn("the checkpoint directory could not be looked at", error);
      }
      // A dead program finishes nothing: what is not complete at the second look will not be.
      const isFinal = begun.place.detector.waitingFor === undefined || (writer.state === "died" && look > 1);
      if (isFinal || deadline?.isOver()) break;
      await this.#options.clock.sleep(250);
    }
    return newest;
  }

  #withNotice(writer: FinishOptions["writer"]): FinishOptions["writer"] {
    if (writer.state !== "exited" || !this.#isNoticed) return writer;
    return { ...writer, isNoticed: true, vouchedFor: this.#vouchedFor };
  }

  /** Ships at the end; what fails for a passing reason is tried again while there is time. */
  async #shipUntil(begun: Begun, newest: CompleteCheckpoint, options: FinishOptions): Promise<void> {
    let next: CompleteCheckpoint | undefined = newest;
    for (let attempt = 1; attempt <= 5 && next && !this.#handled.has(next.fingerprint); attempt += 1) {
      if (options.deadline?.isOver() || this.#hasEnded) return;
      const { fingerprint }: CompleteCheckpoint = next;
      if ((await begun.shipper.ship(next, { deadline: options.deadline })) === "done") {
        this.#handled.add(fingerprint);
        return;
      }
      await this.#options.clock.sleep(Math.min(100 * 2 ** attempt, options.deadline?.remainingMs() ?? 60_000));
      next = await this.#finalLook(begun, options);
    }
  }

  /** A program that was killed may have been killed by a later start: the log says so, and then it was no failure. */
  async #checkTenure({ tenure }: Begun, { deadline }: FinishOptions): Promise<void> {
    if (this.#hasEnded || deadline?.isOver()) return;
    try {
      const head = await this.#log.head(deadline?.signal());
      const ended = head && endOfTenure(head.state, this.#run.run, tenure);
      if (!ended) return;
      const reason = ended.code === "OUTLAST_SUPERSEDED" ? "superseded" : "gang-ended";
      this.events.emit("session:ended", { reason, message: ended.message });
    } catch (error) {
      this.#warn("the run's log could not be read", error);
    }
  }

  #report(newest: CompleteCheckpoint | undefined): FinishReport {
    const state = this.#log.seen?.state;
    const isLost = newest !== undefined && !this.#handled.has(newest.fingerprint);
    const lostStep = isLost ? (newest.step ?? this.#steps.of(newest, state)) : undefined;
    return { committedStep: state && targetOf(state)?.step, lostStep };
  }

  async #readFirstStart(): Promise<void> {
    try {
      this.#firstStartMs = await recordTime(this.#run, 1, this.#stop.signal);
    } catch {
      // Only the suggested interval needs it.
    }
  }

  #stopLooking(): void {
    this.#stop.abort();
    this.#wake.abort();
  }

  #require(): Begun {
    if (!this.#begun) throw new OutlastError("OUTLAST_USAGE", "the session has not begun");
    return this.#begun;
  }

  #warn(message: string, error?: unknown): void {
    this.events.emit("session:warning", error === undefined ? { message } : { message, error });
  }
}
