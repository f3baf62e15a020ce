import { existsSync } from "node:fs";
import { constants } from "node:os";
import type { Beginning, CheckpointSession, FinishReport } from "../checkpoint/index.ts";
import {
  type Clock,
  Deadline,
  type Emitter,
  exitCodes,
  OutlastError,
  signalExitCode,
  systemClock,
} from "../core/index.ts";
import { createSignalSource, type Notice, type NoticeSource } from "../notice/index.ts";
import { AttemptClock } from "./attempt-clock.ts";
import { type Child, startChild } from "./child.ts";
import { Conversation } from "./conversation.ts";
import { type Drained, drain } from "./drain.ts";
import { childEnvironment } from "./environment.ts";
import { killKin } from "./leftovers.ts";
import { PlannedEnd } from "./planned-end.ts";
import { countZombies, findKin, sendSignal } from "./process-tree.ts";
import { fillResume } from "./resume-template.ts";
import type { SupervisorMessage } from "./socket-messages.ts";
import { intervalInSteps } from "./step-meter.ts";
import { StopMachine } from "./stop-machine.ts";
import { Stopping } from "./stopping.ts";
import type { SuperviseEvents, SuperviseJournalEvent, SuperviseOptions, SuperviseResult } from "./supervise-types.ts";
import { decideVerdict, isWorkDone, type StopCause, type VerdictFacts } from "./verdict.ts";
import { waitAtMost } from "./wait.ts";

type Begun = Extract<Beginning, { kind: "start" }>;

/** The longest that the stop signal waits. */
const lookMs = 25;
const tickMs = 250;
const progressTicks = 40;
const zombieTicks = 120;
const zombieLimit = 100;
/** For closing when there is no deadline. */
const closeMs = 5_000;

/** One start of a run from its first breath to its verdict; {@link supervise} is its public face. */
export class SupervisedStart {
  readonly #options: SuperviseOptions;
  readonly #events: Emitter<SuperviseEvents>;
  readonly #clock: Clock;
  readonly #session: CheckpointSession;
  readonly #machine: StopMachine;
  readonly #stopping: Stopping;
  readonly #planned: PlannedEnd;
  readonly #talk: Conversation;
  readonly #time: AttemptClock;
  readonly #over = new AbortController();
  #begun: Begun | undefined;
  #child: Child | undefined;
  #drained: Drained | undefined;
  #noticeReason: string | undefined;
  #committedStep: number | undefined;
  #shipMs = 0;
  #journal: Promise<void> = Promise.resolve();

  constructor(options: SuperviseOptions, events: Emitter<SuperviseEvents>) {
    const { clock = systemClock, session, run, minLeadMs } = options;
    this.#options = options;
    this.#events = events;
    this.#clock = clock;
    this.#session = session;
    this.#time = new AttemptClock(clock);
    this.#machine = new StopMachine((change) => this.#emit("supervisor:state-changed", change));
    this.#stopping = new Stopping(clock, () => this.#leaveNow());
    this.#planned = new PlannedEnd({ clock, graceMs: this.#graceMs, minLeadMs });
    this.#talk = new Conversation({
      run,
      session,
      clock,
      notice: () => (this.#stopping.cause === undefined ? undefined : this.#noticeMessage()),
      onStep: (step, isFirst) => this.#noteStep(step, isFirst),
      onSaved: (step) => this.#noteSaved(step),
      onWarning: (message, error) => this.#warn(message, error),
    });
  }

  /** Runs to the verdict. */
  async run(): Promise<SuperviseResult> {
    const ownSignals = this.#options.notices === undefined ? createSignalSource() : undefined;
    try {
      this.#listen(this.#options.notices ?? (ownSignals ? [ownSignals] : []));
      void this.#tick();
      const result = await this.#work();
      this.#noteExit(result);
      await this.#withinTime(this.#journal);
      this.#machine.to("stopped");
      return { ...result, ...this.#endTimes() };
    } catch (error) {
      await this.#killEverything();
      this.#machine.to("failed");
      throw error;
    } finally {
      this.#over.abort();
      await this.#withinTime(this.#close());
      this.#stopping.end();
      ownSignals?.[Symbol.dispose]();
    }
  }

  /** Takes a notice from any source. The stop signal follows within milliseconds. */
  receive(notice: Notice): void {
    if (this.#over.signal.aborted) return;
    if (notice.kind === "planned-end") {
      if (notice.endsAtMs !== undefined) this.#planned.set(notice.endsAtMs);
      this.#emit("supervisor:notice", { notice, effect: "planned" });
      return;
    }
    const { kind } = notice;
    // Somebody at a keyboard who sees the machine being evicted and presses Ctrl-C does not want to wait either.
    const isForce = kind === "force" || (kind === "interrupt" && this.#stopping.cause !== undefined);
    const effect = this.#stop(kind === "force" ? "eviction" : kind, this.#graceMs, notice);
    if (isForce) this.#stopping.force();
    this.#emit("supervisor:notice", { notice, effect: isForce ? "forced" : effect });
  }

  get #graceMs(): number {
    return this.#options.graceMs ?? 15_000;
  }

  get #stopSignal(): NodeJS.Signals {
    return this.#options.stopSignal ?? "SIGTERM";
  }

  #listen(sources: readonly NoticeSource[]): void {
    const { events } = this.#session;
    const offs = [
      events.on("session:ended", ({ reason, message }) => {
        const graceMs = Math.min(this.#graceMs, this.#options.overtakenGraceMs ?? 4_000);
        this.#stop(reason, graceMs, { source: "session", kind: "eviction", reason: message });
      }),
      events.on("session:saved", ({ step }) => this.#noteSaved(step)),
      events.on("session:committed", ({ step, shipMs }) => {
        this.#committedStep = step;
        this.#shipMs = shipMs;
        this.#planned.committed(step);
      }),
    ];
    this.#over.signal.addEventListener("abort", () => {
      for (const off of offs) off();
    });
    for (const source of sources) {
      source.start(
        (notice) => this.receive(notice),
        this.#over.signal,
        (message, error) => this.#warn(message, error),
      );
    }
  }

  async #work(): Promise<SuperviseResult> {
    const beginning = await this.#begin();
    if (beginning?.kind === "already-finished") {
      if (this.#stopping.cause !== undefined) this.#machine.to("saving");
      return this.#result({ exitCode: exitCodes.finished, verdict: "finished" });
    }
    if (beginning !== undefined && this.#stopping.cause === undefined) await this.#start(beginning);
    if (this.#child === undefined) {
      this.#machine.to("saving");
      return this.#result(this.#decide(undefined));
    }
    this.#drained = await drain({
      child: this.#child,
      stopping: this.#stopping,
      clock: this.#clock,
      stopSignal: this.#stopSignal,
      leftoverMs: this.#options.leftoverMs ?? 5_000,
      predictedFlushMs: () => this.#predictedFlushMs(),
      onEnd: () => this.#time.noteChildEnded(),
    });
    const { end, forced, found, killed } = this.#drained;
    if (found > 0) this.#emit("supervisor:leftovers", { found, killed });
    this.#emit("supervisor:child-ended", { ...end, forced });
    await this.#talk.hearLastWords();
    return this.#save(this.#drained);
  }

  /** Takes the run over; undefined when a notice broke that off. */
  async #begin(): Promise<Beginning | undefined> {
    const abort = new AbortController();
    void this.#stopping.requested.then(() => abort.abort());
    try {
      return (await Promise.race([this.#session.begin(abort.signal), this.#stopping.lastCall])) ?? undefined;
    } catch (error) {
      if (this.#stopping.cause !== undefined) return undefined;
      throw error;
    }
  }

  /** Starts the child, unless a notice comes first. */
  async #start(begun: Begun): Promise<void> {
    this.#begun = begun;
    const { epoch, attempt, resume, restoreMs } = begun;
    this.#note({ event: "start", epoch, attempt, resumedStep: resume?.step, restoreMs });
    const socketPath = await this.#talk.open(begun);
    if (this.#stopping.cause !== undefined) return;
    const saveIntervalMs = this.#session.saveIntervalMs();
    const child = await startChild({
      command: fillResume(this.#options.command, resume?.path),
      env: childEnvironment(this.#options.env ?? process.env, {
        run: this.#options.run,
        attempt,
        role: this.#options.role,
        checkpointDir: this.#options.dir,
        resumeStep: resume?.step,
        resumePath: resume?.path,
        socketPath,
        saveIntervalMs,
        saveIntervalSteps: intervalInSteps(saveIntervalMs, begun.stepMs),
      }),
      cwd: this.#options.cwd,
      ownSession: !process.stdin.isTTY,
      marker: `OUTLAST_SOCKET=${socketPath}`,
      stdio: this.#options.stdio,
    });
    this.#child = child;
    this.#time.noteChildStarted();
    this.#talk.noteSaved();
    this.#session.watch(child.pid);
    this.#emit("supervisor:started", { pid: child.pid, attempt, resume });
    // A notice may have come while it was being started: then it has not been told yet.
    if (this.#stopping.cause !== undefined) this.#tellChild(child);
  }

  /** Records a request to stop and passes it on to the child at once. */
  #stop(cause: StopCause, graceMs: number, notice: Notice): "stopping" | "shortened" | "repeat" {
    const effect = this.#stopping.request(cause, graceMs);
    if (effect === "nothing") return "repeat";
    if (effect === "shortened") {
      this.#talk.send(this.#noticeMessage());
      return "shortened";
    }
    this.#noticeReason = notice.reason;
    if (this.#machine.state === "running") {
      this.#machine.to("noticed");
      if (this.#child !== undefined) this.#tellChild(this.#child);
    }
    this.#note({ event: "notice", source: notice.source, graceMs, lastStep: this.#talk.steps.last });
    return "stopping";
  }

  /** The stop signal waits for a look at what the child is writing, a few milliseconds, and never longer than that. */
  #tellChild(child: Child): void {
    const looked = this.#session
      .noticed()
      .catch((error: unknown) => this.#warn("what the program writes could not be looked at", error));
    void waitAtMost(looked, lookMs, this.#clock).then(() => this.#signalChild(child));
  }

  #signalChild(child: Child): void {
    this.#talk.send(this.#noticeMessage());
    const isInterrupt = this.#stopping.cause === "interrupt";
    // In the terminal's foreground group the child has got the terminal's own SIGINT; a second one would break off its handler.
    if (!isInterrupt || child.kinship.session !== undefined) {
      const signal = isInterrupt ? "SIGINT" : this.#stopSignal;
      const processes = child.signal(signal, this.#options.stopScope ?? "main");
      this.#emit("supervisor:signal-sent", { signal, processes });
    }
    if (this.#machine.state === "noticed") this.#machine.to("draining");
  }

  #noticeMessage(): SupervisorMessage {
    const deadline = Math.round(this.#stopping.times?.untilKillMs(0) ?? 0) / 1000;
    return { type: "notice", reason: this.#noticeReason ?? "stopping", deadline };
  }

  /** A prediction that is none must not keep the child from being killed in time. */
  #predictedFlushMs(): number {
    const predicted = this.#session.predictedFlushMs();
    return predicted > 0 ? predicted : 0;
  }

  /** Ships what is complete, records a success, and decides. */
  async #save({ end, forced, byItself }: Drained): Promise<SuperviseResult> {
    this.#machine.to("saving");
    const didFail = byItself && end.code !== 0;
    const deadline =
      this.#stopping.times?.shipDeadline ??
      (didFail ? Deadline.in(this.#options.failureFlushMs ?? 600_000, this.#clock) : undefined);
    // `exit(128 + signal)` is how many say that they left because they were told to.
    const isPolite =
      this.#stopping.cause !== undefined && end.code === signalExitCode(constants.signals[this.#stopSignal]);
    const writer =
      (end.code === 0 || isPolite) && !forced
        ? ({ state: "exited" } as const)
        : ({ state: "died", unwound: end.code !== null && !forced } as const);
    const report = await this.#untilLastCall(
      this.#session.finish({ deadline, writer, saidFinished: this.#facts().saidFinished }),
      didFail,
    );
    this.#committedStep = report?.committedStep ?? this.#committedStep;
    return this.#result(this.#decide(await this.#complete(report)), report);
  }

  async #complete(report: FinishReport | undefined): Promise<VerdictFacts["completion"]> {
    if (report === undefined || !isWorkDone(this.#facts())) return undefined;
    const { lostStep, committedStep } = report;
    if (lostStep !== undefined && lostStep > (committedStep ?? -1)) {
      this.#emit("supervisor:warning", {
        message: `the program finished, but its last checkpoint (step ${lostStep}) could not be stored`,
        hint: "start it again: it resumes from the last stored step and finishes anew",
      });
      return undefined;
    }
    // With a deadline the record may still be written while there is time to ship; other shards are waited for no longer than that.
    const abort = new AbortController();
    void this.#stopping.requested.then(async () => {
      await this.#clock.sleep(this.#stopping.times?.shipDeadline.remainingMs() ?? 0, this.#over.signal);
      abort.abort();
    });
    return this.#untilLastCall(this.#session.complete(abort.signal), false);
  }

  /** Waits for `work` until the last call; undefined when it did not come in time, or failed where only the way out counts. */
  async #untilLastCall<T>(work: Promise<T>, isForgiven: boolean): Promise<T | undefined> {
    try {
      return (await Promise.race([work, this.#stopping.lastCall])) ?? undefined;
    } catch (error) {
      if (!isForgiven && this.#stopping.cause === undefined) throw error;
      this.#warn("what the program saved last could not be stored or recorded", error);
      return undefined;
    }
  }

  #facts(): Pick<VerdictFacts, "cause" | "child" | "saidFinished"> {
    const { finishedWhen } = this.#options;
    const saidFinished = this.#talk.saidFinished || (finishedWhen !== undefined && existsSync(finishedWhen));
    const child = this.#drained?.end ?? this.#child?.end;
    const { cause } = this.#stopping;
    // Another start in charge may have ended the program itself, or taken its peers away from it: that is no failure of its own.
    if (!this.#drained?.byItself || cause === "superseded" || cause === "gang-ended")
      return { cause, child, saidFinished };
    // What a notice finds already ended keeps the meaning it had: a failure stays one, and a success needs no further word.
    return child?.code === 0 ? { cause, child, saidFinished: true } : { cause: undefined, child, saidFinished };
  }

  #decide(completion: VerdictFacts["completion"]): Pick<SuperviseResult, "verdict" | "exitCode"> {
    const exitOnEviction = this.#options.exitOnEviction ?? exitCodes.evicted;
    return decideVerdict({ ...this.#facts(), completion, exitOnEviction });
  }

  #result(decided: Pick<SuperviseResult, "verdict" | "exitCode">, report?: FinishReport): SuperviseResult {
    return {
      ...decided,
      childCode: this.#drained?.end.code ?? null,
      childSignal: this.#drained?.end.signal ?? null,
      forced: this.#drained?.forced ?? false,
      attempt: this.#begun?.attempt,
      cause: this.#stopping.cause,
      noticeReason: this.#noticeReason,
      resumeStep: this.#begun?.resume?.step,
      committedStep: this.#committedStep,
      lostStep: report?.lostStep,
      steps: this.#talk.steps,
      ...this.#endTimes(),
    };
  }

  #endTimes(): Pick<SuperviseResult, "noticeToExitMs" | "time"> {
    const { noticedAtMs } = this.#stopping;
    const noticeToExitMs = noticedAtMs === undefined ? undefined : this.#clock.monotonic() - noticedAtMs;
    return { noticeToExitMs, time: this.#time.split(noticedAtMs) };
  }

  #noteStep(step: number, isFirst: boolean): void {
    const afterMs = this.#time.sinceChildStartMs;
    if (isFirst && afterMs !== undefined) this.#note({ event: "first-step", step, afterMs });
    this.#emit("supervisor:step", { step });
  }

  #noteSaved(step: number | undefined): void {
    this.#talk.noteSaved();
    this.#planned.saved(step);
  }

  /** What has to be looked at now and then. Its timer also keeps the process alive while all else only waits. */
  async #tick(): Promise<void> {
    let hasWarned = false;
    for (let ticks = 1; !this.#over.signal.aborted && this.#stopping.cause === undefined; ticks += 1) {
      this.#askToSaveOrStop();
      if (ticks % progressTicks === 0 && this.#child !== undefined) {
        const { last } = this.#talk.steps;
        this.#note({ event: "progress", lastStep: last, time: this.#time.split(undefined) });
      }
      if (process.pid === 1 && !hasWarned && ticks % zombieTicks === 0 && countZombies(1) > zombieLimit) {
        hasWarned = true;
        this.#emit("supervisor:warning", {
          message: `more than ${zombieLimit} ended processes wait for PID 1 to collect them`,
          hint: "give the container an init: docker run --init, or shareProcessNamespace: true",
        });
      }
      await this.#clock.sleep(tickMs, this.#over.signal);
    }
  }

  #askToSaveOrStop(): void {
    const { clients, saveMs } = this.#talk;
    const act = this.#planned.next(clients > 0, saveMs, Math.max(this.#predictedFlushMs(), this.#shipMs));
    if (act === "stop") {
      const notice: Notice = { source: "ends-at", kind: "eviction", reason: "the known end is near" };
      const effect = this.#stop("eviction", this.#planned.remainingMs, notice);
      this.#emit("supervisor:notice", { notice, effect });
    } else if (act === "ask-to-save" || this.#talk.isSaveDue) {
      const reason = act === "ask-to-save" ? "ends-at" : "interval";
      this.#talk.askToSave(reason);
      this.#emit("supervisor:save-requested", { reason, clients });
    }
  }

  #note(event: SuperviseJournalEvent): void {
    const { onJournal } = this.#options;
    // Before the run is taken over there is no epoch to write under.
    if (onJournal === undefined || this.#begun === undefined) return;
    this.#journal = this.#journal
      .then(() => onJournal(event, this.#stopping.times?.shipDeadline))
      .catch((error: unknown) => this.#warn("the journal could not be written", error));
  }

  #noteExit(result: SuperviseResult): void {
    const { verdict, exitCode: code, noticeToExitMs, forced, committedStep, time } = result;
    const lastStep = result.steps.last;
    this.#note({ event: "exit", verdict, code, noticeToExitMs, forced, lastStep, committedStep, time });
  }

  #warn(message: string, error?: unknown): void {
    const hint = error instanceof OutlastError ? error.hint : undefined;
    this.#emit("supervisor:warning", { message, ...(hint === undefined ? {} : { hint }), error });
  }

  /** Tells listeners; one that throws must not keep the stop signal from the child. */
  #emit<Name extends keyof SuperviseEvents>(name: Name, data: SuperviseEvents[Name]): void {
    try {
      this.#events.emit(name, data);
    } catch (error) {
      process.emitWarning(`a listener of ${name} failed: ${String(error)}`);
    }
  }

  /** Waits for `work`, but never beyond the last call. */
  async #withinTime(work: Promise<unknown>): Promise<void> {
    await waitAtMost(Promise.race([work, this.#stopping.lastCall]), closeMs, this.#clock);
  }

  async #close(): Promise<void> {
    for (const result of await Promise.allSettled([this.#session.close(), this.#talk.close()])) {
      if (result.status === "rejected") this.#warn("closing failed", result.reason);
    }
  }

  async #killEverything(): Promise<void> {
    if (this.#child === undefined) return;
    this.#child.signal("SIGKILL", "tree");
    await killKin(this.#child.kinship, this.#clock);
  }

  /** Everything hangs and the time is over: nothing of ours may outlive this process. */
  #leaveNow(): void {
    const child = this.#child;
    if (child !== undefined) {
      if (child.end === undefined) sendSignal(child.pid, "SIGKILL");
      for (const info of findKin(child.kinship)) sendSignal(info.pid, "SIGKILL");
    }
    const { exitCode } = this.#decide(undefined);
    const leave = this.#options.onOverdue ?? ((code: number) => process.exit(code));
    leave(exitCode);
  }
}
