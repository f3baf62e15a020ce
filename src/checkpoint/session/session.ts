import { join } from "node:path";
import { Emitter, OutlastError } from "../../core/index.ts";
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
import type { SessionOptions } from "./session-options.ts";
import { ShipRate } from "./ship-rate.ts";
import { Shipper } from "./shipper.ts";
import { StepNumbers } from "./step-numbers.ts";
import { stepTime } from "./step-time.ts";
import { Watch } from "./watch.ts";
import { WorkingDirectory } from "./working-directory.ts";

/** What a start has once it has begun. */
interface Begun {
  readonly tenure: Tenure;
  readonly place: WorkingDirectory;
  readonly shipper: Shipper;
  readonly watch: Watch;
  readonly background: Background;
}

/** The checkpoint side of one start of a run that saves. */
export class Session implements CheckpointSession {
  readonly events: Emitter<SessionEvents> = new Emitter();
  readonly #options: SessionOptions;
  readonly #run: RunStore;
  readonly #log: RunLog;
  readonly #rate: ShipRate;
  readonly #book = new ReuseBook();
  readonly #steps: StepNumbers;
  readonly #stop = new AbortController();
  #begun: Begun | undefined;
  #resume: Resume | undefined;
  #hasEnded = false;
  #isNoticed = false;
  #isHurried = false;
  /** What the program called saved, being passed on to the detector. */
  #vouching: Promise<unknown> = Promise.resolve();
  #shipments = 0;
  /** How long the checkpoint resumed from took to save. */
  #resumedSaveMs: number | undefined;
  #firstStartMs: number | undefined;
  #loops: readonly Promise<unknown>[] = [];

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#run = openRun(options.store, options.run);
    this.#log = new RunLog(this.#run, { clock: options.clock });
    this.#steps = new StepNumbers(options.dir);
    this.#rate = new ShipRate(options.maxRate);
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
    await place.takeOver();
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
    const watch = new Watch({
      place,
      shipper,
      steps: this.#steps,
      rate: this.#rate,
      events: this.events,
      clock,
      // Each look at a mounted bucket is a list request for every folder.
      pollMs: this.#options.pollMs ?? (place.own.bucket ? 1000 : undefined),
      state: () => this.#log.seen?.state,
      hasEnded: () => this.#hasEnded,
    });
    this.#begun = { tenure, place, shipper, watch, background };
    const attempt = record.state.starts[shard] ?? 1;
    if (attempt > 1) await this.#readFirstStart();
    else this.#firstStartMs = Date.parse(record.at);
    const stepMs = stepTime(record.state.commits);
    return { kind: "start", epoch, attempt, resume: this.#resume, restoreMs: clock.monotonic() - started, stepMs };
  }

  watch(pid: number): void {
    const begun = this.#require();
    this.#loops = [begun.place.noteChild(pid), begun.watch.run(pid), begun.background.follow()];
    begun.background.tend();
  }

  childSaved(path: string | undefined, step: number | undefined): void {
    if (step !== undefined) this.#steps.say(path, step);
    const place = this.#begun?.place;
    if (!place || path === undefined) return;
    const vouch = place.now().then((atMs) => place.detector.vouch(this.#steps.relative(path), atMs));
    this.#vouching = Promise.all([this.#vouching, vouch]).then(() => this.#begun?.watch.wake());
  }

  async noticed(): Promise<void> {
    this.#hurry();
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
    const saveCostMs = this.#begun?.watch.saveCostMs ?? this.#resumedSaveMs;
    if (saveCostMs === undefined || this.#firstStartMs === undefined) return undefined;
    return saveInterval({
      saveCostMs,
      uploadMs: this.#rate.predictMs(this.#rate.lastBytes),
      evictions: (this.#log.seen?.state.starts[this.#options.shard ?? 0] ?? 1) - 1,
      uptimeMs: Math.max(0, this.#options.clock.now() - this.#firstStartMs),
    });
  }

  async finish(options: FinishOptions): Promise<FinishReport> {
    const begun = this.#begun;
    if (!begun) return { committedStep: undefined, lostStep: undefined };
    this.#stop.abort();
    begun.watch.stop();
    // The program needs the network no longer.
    this.#hurry();
    // Under a deadline nothing but shipping is worth the time.
    if (options.deadline || this.#hasEnded) begun.background.halt();
    if (this.#hasEnded) {
      await begun.shipper.settle({ abort: true });
      return { committedStep: this.#committedStep(), lostStep: undefined };
    }
    const writer = options.saidFinished ? options.writer : this.#withNotice(options.writer);
    await this.#vouching;
    const lostStep = await begun.watch.finish({ ...options, writer });
    if (options.writer.state === "died") await this.#checkTenure(begun, options);
    if (!options.deadline) await begun.background.settle();
    return { committedStep: this.#committedStep(), lostStep };
  }

  complete(signal?: AbortSignal): Promise<"all-done" | "gang-ended" | "superseded"> {
    const { tenure } = this.#require();
    return finishShard(this.#run, this.#log, tenure, { clock: this.#options.clock }, signal);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#begun?.watch.stop();
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
      this.#resumedSaveMs = restored.manifests[0]?.saveMs;
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

  #withNotice(writer: FinishOptions["writer"]): FinishOptions["writer"] {
    if (writer.state !== "exited" || !this.#isNoticed) return writer;
    return { ...writer, isNoticed: true };
  }

  /** From now on everything ships as fast as it can. */
  #hurry(): void {
    if (this.#isHurried) return;
    this.#isHurried = true;
    this.#options.transfer.hurry();
    if (this.#options.maxRate !== undefined) this.#begun?.shipper.hurry();
  }

  #committedStep(): number | undefined {
    const state = this.#log.seen?.state;
    return state && targetOf(state)?.step;
  }

  async #readFirstStart(): Promise<void> {
    try {
      this.#firstStartMs = await recordTime(this.#run, 1, this.#stop.signal);
    } catch {
      // Only the suggested interval needs it.
    }
  }

  #require(): Begun {
    if (!this.#begun) throw new OutlastError("OUTLAST_USAGE", "the session has not begun");
    return this.#begun;
  }

  #warn(message: string, error?: unknown): void {
    this.events.emit("session:warning", error === undefined ? { message } : { message, error });
  }
}
