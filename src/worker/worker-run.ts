import { type Clock, type Emitter, exitCodes, systemClock } from "../core/index.ts";
import type { Notice } from "../notice/index.ts";
import { Counter } from "./counter.ts";
import { Dispatcher } from "./dispatcher.ts";
import { createTalk } from "./handler-talk.ts";
import { HandlerHealth } from "./handler-health.ts";
import { InHand } from "./in-hand.ts";
import { ItemMeter } from "./item-meter.ts";
import { Lane } from "./lane.ts";
import { keepLeases } from "./lease-keeper.ts";
import { handlingMode, makeHandler } from "./make-handler.ts";
import { Notifier } from "./notifier.ts";
import { Patience } from "./patience.ts";
import { Puller } from "./puller.ts";
import { failedGraceMs, Settler } from "./settler.ts";
import { StopState } from "./stop-state.ts";
import type { WorkerCounts, WorkerEvents, WorkerOptions, WorkerResult } from "./types.ts";
import { watchSilence } from "./watch-silence.ts";

const mib = 1024 * 1024;
/** How long a handler may take to end when there is no hurry. */
const handlerEndMs = 10_000;

/** One worker from start to end: lanes that pull, start, handle and settle; leases kept alive beside them; a stop that gives back the rest. */
export class WorkerRun {
  readonly #options: WorkerOptions;
  readonly #events: Emitter<WorkerEvents>;
  readonly #clock: Clock;
  readonly #counter: Counter;
  readonly #inHand = new InHand();
  readonly #notifier = new Notifier();
  /** Aborts when no more work is wanted. */
  readonly #stopping = new AbortController();
  /** Aborts when all is over. */
  readonly #over = new AbortController();
  readonly #stop: StopState;
  readonly #settler: Settler;
  readonly #puller: Puller;
  readonly #lanes: readonly Lane[];
  #handingBack: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(options: WorkerOptions, events: Emitter<WorkerEvents>) {
    const {
      queue,
      chunk = 10,
      concurrency = 1,
      untilDrained = false,
      batch: isBatch = false,
      queuePatienceMs = 300_000,
    } = options;
    this.#options = options;
    this.#events = events;
    this.#clock = options.clock ?? systemClock;
    this.#counter = new Counter(events);
    const clock = this.#clock;
    const inHand = this.#inHand;
    const notifier = this.#notifier;
    const signal = this.#stopping.signal;
    this.#stop = new StopState(clock, {
      onCut: () => this.#cut(),
      onLastCall: () => this.#killHandlers(),
      onOverdue: () => this.#leave(),
    });
    const patience = new Patience({
      clock,
      random: options.random ?? Math.random,
      patienceMs: queuePatienceMs,
      signal,
      onTrouble: (error, call, nextInMs) =>
        this.#warn("the queue failed; trying again", { call, error, nextInMs: Math.round(nextInMs) }),
      onRecovered: (call, afterMs) => this.#warn("the queue answers again", { call, afterMs: Math.round(afterMs) }),
    });
    this.#settler = new Settler({
      queue,
      patience,
      counter: this.#counter,
      inHand,
      notifier,
      untilLastCallMs: () => this.#stop.untilLastCallMs(),
      isStopping: () => this.#stop.isRequested,
      onFailure: (error) => this.#fail(error),
      onTrouble: (message, fields) => this.#warn(message, fields),
    });
    this.#puller = new Puller({
      queue,
      chunk,
      untilDrained,
      inHand,
      patience,
      clock,
      signal,
      onWaiting: (reason) => events.emit("worker:waiting", { reason }),
    });
    const dispatcher = new Dispatcher({ queue, puller: this.#puller, inHand, notifier, patience, signal });
    const health = new HandlerHealth();
    const meter = new ItemMeter();
    const { firstRetryMs = 1000, maxRetryMs = 300_000 } = options;
    this.#lanes = Array.from({ length: concurrency }, () => {
      const handler = makeHandler(options.handler, {
        isBatch,
        chunk,
        maxResultBytes: options.maxResultBytes ?? mib,
        itemTimeoutMs: options.itemTimeoutMs,
        patienceMs: queuePatienceMs,
        env: options.env ?? process.env,
        cwd: options.cwd,
        clock,
        talk: createTalk(this.#counter.counts, events, options.onStderr),
      });
      return new Lane({
        handler,
        dispatcher,
        health,
        meter,
        mode: handlingMode(options.handler, isBatch),
        clock,
        retryDelayMs: (failures) => Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures, 30)),
        settle: (items) => this.#settler.settle(items),
      });
    });
  }

  get counts(): WorkerCounts {
    return this.#counter.counts;
  }

  /** Works until drained or stopped. */
  async run(): Promise<WorkerResult> {
    const { queue, leaseMs = 30_000, notices = [] } = this.#options;
    const clock = this.#clock;
    const beganMs = clock.monotonic();
    for (const source of notices) {
      source.start(
        (notice) => this.receive(notice),
        this.#over.signal,
        (message, error) => this.#warn(message, { source: source.name, error }),
      );
    }
    const over = this.#over.signal;
    void keepLeases(
      {
        queue,
        clock,
        leaseMs,
        inHand: () => this.#inHand.all(),
        onLost: (items) => {
          this.#counter.counts.leasesLost += items.length;
          this.#inHand.lost(items);
          this.#events.emit("worker:lease-lost", { items });
        },
        onTrouble: (error) => this.#warn("leases could not be renewed; trying again", { error }),
      },
      over,
    );
    void watchSilence(
      {
        lanes: this.#lanes,
        clock,
        onSilence: (fields) => this.#warn("a handler has not answered for a while", fields),
      },
      over,
    );
    try {
      await Promise.all(this.#lanes.map((lane) => this.#runLane(lane)));
      await this.#finish();
    } finally {
      this.#over.abort();
      this.#stop.end();
    }
    if (this.#failure) throw this.#failure.error;
    return this.#result(clock.monotonic() - beganMs);
  }

  /** Takes a notice. */
  receive(notice: Notice): void {
    const { graceMs = 15_000 } = this.#options;
    const tell = (effect: WorkerEvents["worker:notice"]["effect"]) =>
      this.#events.emit("worker:notice", { notice, effect });
    switch (notice.kind) {
      case "eviction":
      case "interrupt": {
        const effect = this.#requestStop(notice.kind === "eviction" ? "evicted" : "interrupted", graceMs);
        tell(effect === "first" ? "first" : "repeat");
        break;
      }
      case "force":
        tell("force");
        this.#requestStop("interrupted", graceMs);
        this.#cut();
        this.#killHandlers();
        break;
      case "planned-end": {
        tell("planned");
        const leftMs = (notice.endsAtMs ?? 0) - this.#clock.now();
        void this.#clock.sleep(Math.max(0, leftMs - graceMs), this.#over.signal).then(() => {
          if (!this.#over.signal.aborted) this.#requestStop("evicted", Math.max(0, Math.min(graceMs, leftMs)));
        });
        break;
      }
    }
  }

  async #runLane(lane: Lane): Promise<void> {
    try {
      await lane.run();
    } catch (error) {
      this.#fail(error);
    }
  }

  #requestStop(verdict: "evicted" | "interrupted", graceMs: number): "first" | "nearer" | "nothing" {
    const effect = this.#stop.request(verdict, graceMs);
    if (effect !== "first") return effect;
    this.#stopping.abort();
    this.#notifier.notify();
    this.#handingBack = this.#handBack();
    return effect;
  }

  /** At once after a notice: gives back what was never started and what cannot be finished in time; settles what is finished. */
  async #handBack(): Promise<void> {
    const availableMs = this.#stop.untilCutMs();
    const given = this.#lanes.flatMap((lane) => [...lane.takeEnded(), ...lane.trim(availableMs)]);
    const unstarted = this.#inHand.takeUnstarted();
    await Promise.all([this.#settler.settle(given), this.#settler.release(unstarted)]);
    const started = given.filter(({ ending }) => ending.kind === "hand-back").length;
    this.#events.emit("worker:handed-back", { started, prefetched: unstarted.length });
  }

  /** After the lanes: what a last pull brought goes back, handlers end. */
  async #finish(): Promise<void> {
    await this.#handingBack;
    this.#stopping.abort();
    await this.#puller.settled();
    await this.#settler.release(this.#inHand.takeUnstarted());
    const isHurried = this.#stop.isRequested;
    const patienceMs = Math.min(
      handlerEndMs,
      isHurried ? Math.max(0, this.#stop.untilLastCallMs() - 200) : handlerEndMs,
    );
    await Promise.all(this.#lanes.map(({ handler }) => handler.stop(patienceMs, isHurried)));
  }

  /** The worker cannot go on: everything is handed back as far as that is possible, and the error is the end of it. */
  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = { error };
    this.#requestStop("evicted", failedGraceMs);
    this.#cut();
  }

  #cut(): void {
    for (const lane of this.#lanes) lane.cut();
  }

  #killHandlers(): void {
    for (const { handler } of this.#lanes) handler.kill();
  }

  #leave(): void {
    this.#killHandlers();
    const leave = this.#options.onOverdue ?? ((code: number) => process.exit(code));
    leave(this.#failure ? exitCodes.failed : this.#exitCode());
  }

  #exitCode(): number {
    switch (this.#stop.verdict) {
      case "evicted":
        return this.#options.exitOnEviction ?? exitCodes.evicted;
      case "interrupted":
        return exitCodes.interrupted;
      case undefined:
        return exitCodes.finished;
    }
  }

  #result(tookMs: number): WorkerResult {
    const { noticedAtMs } = this.#stop;
    // Found drained before the notice: a job that is finished must not be started again.
    const isDrained = this.#puller.isDrained;
    return {
      ...this.#counter.counts,
      verdict: isDrained ? "drained" : (this.#stop.verdict ?? "drained"),
      exitCode: isDrained ? exitCodes.finished : this.#exitCode(),
      tookMs,
      noticeToEndMs: noticedAtMs === undefined ? undefined : this.#clock.monotonic() - noticedAtMs,
    };
  }

  #warn(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#events.emit("worker:warning", { message, ...fields });
  }
}
