import type {
  Beginning,
  CheckpointSession,
  FinishOptions,
  FinishReport,
  SessionEvents,
} from "../../src/checkpoint/session-types.ts";
import { type Clock, Emitter, type ErrorCode, OutlastError, systemClock } from "../../src/core/index.ts";

/** What a scripted session does; everything may be left out. JSON, so that it can be handed to a process. */
export interface SessionScript {
  readonly begin?: Partial<Extract<Beginning, { kind: "start" }>> | { readonly kind: "already-finished" };
  readonly beginMs?: number;
  /** `begin` hangs for ever. */
  readonly beginNever?: boolean;
  /** `begin` does not listen to its signal. */
  readonly beginDeaf?: boolean;
  readonly beginError?: ErrorCode;
  readonly flushMs?: number;
  readonly intervalMs?: number;
  readonly finishMs?: number;
  readonly finishNever?: boolean;
  readonly finishError?: ErrorCode;
  readonly report?: FinishReport;
  readonly completion?: "all-done" | "gang-ended" | "superseded";
  readonly completeMs?: number;
  /** `complete` waits for other shards until it is aborted. */
  readonly completeNever?: boolean;
  readonly closeNever?: boolean;
  /** The session ends by itself so long after the child's start. */
  readonly ended?: { readonly reason: "superseded" | "gang-ended"; readonly afterMs: number };
  /** What the child says it saved is committed so long after. */
  readonly commitMs?: number;
}

/** A checkpoint session that follows a script and notes how it was called. */
export class FakeSession implements CheckpointSession {
  readonly events: Emitter<SessionEvents> = new Emitter();
  readonly calls: string[] = [];
  readonly script: SessionScript;
  readonly #clock: Clock;
  finishOptions: FinishOptions | undefined;
  /** Milliseconds left until the deadline that `finish` was given. */
  finishRemainingMs: number | undefined;
  readonly #closed = new AbortController();

  constructor(script: SessionScript = {}, clock: Clock = systemClock) {
    this.script = script;
    this.#clock = clock;
  }

  async begin(signal?: AbortSignal): Promise<Beginning> {
    this.calls.push("begin");
    const { begin, beginMs = 0, beginError } = this.script;
    if (this.script.beginNever) await forever();
    const heeded = this.script.beginDeaf ? undefined : signal;
    if (beginMs > 0) await this.#clock.sleep(beginMs, heeded);
    heeded?.throwIfAborted();
    if (beginError) throw new OutlastError(beginError, "scripted failure to begin");
    if (begin && "kind" in begin && begin.kind === "already-finished") return begin;
    return { kind: "start", epoch: 1, attempt: 1, resume: undefined, restoreMs: beginMs, ...begin };
  }

  noticed(): Promise<void> {
    this.calls.push("noticed");
    return Promise.resolve();
  }

  watch(pid: number): void {
    this.calls.push(`watch ${pid > 0 ? "pid" : "?"}`);
    const { ended } = this.script;
    if (ended) {
      void this.#clock.sleep(ended.afterMs, this.#closed.signal).then(() => {
        if (!this.#closed.signal.aborted)
          this.events.emit("session:ended", { reason: ended.reason, message: `scripted: ${ended.reason}` });
      });
    }
  }

  childSaved(path: string | undefined, step: number | undefined): void {
    this.calls.push(`childSaved ${path ?? "-"} ${step ?? "-"}`);
    const { commitMs } = this.script;
    if (commitMs === undefined) return;
    void this.#clock.sleep(commitMs, this.#closed.signal).then(() => {
      this.events.emit("session:committed", {
        step: step ?? 0,
        bytes: 1,
        sentBytes: 1,
        lagMs: commitMs,
        shipMs: commitMs,
      });
    });
  }

  predictedFlushMs(): number {
    return this.script.flushMs ?? 0;
  }

  saveIntervalMs(): number | undefined {
    return this.script.intervalMs;
  }

  async finish(options: FinishOptions): Promise<FinishReport> {
    this.calls.push(`finish ${options.writer.state}${options.deadline ? " deadline" : ""}`);
    this.finishOptions = options;
    this.finishRemainingMs = options.deadline?.remainingMs();
    const { finishMs = 0, finishError, report } = this.script;
    if (this.script.finishNever) await forever();
    if (finishMs > 0) await this.#clock.sleep(finishMs, this.#closed.signal);
    if (finishError) throw new OutlastError(finishError, "scripted failure to finish");
    return report ?? { committedStep: undefined, lostStep: undefined };
  }

  async complete(signal?: AbortSignal): Promise<"all-done" | "gang-ended" | "superseded"> {
    this.calls.push("complete");
    await this.#clock.sleep(this.script.completeMs ?? 0, signal);
    signal?.throwIfAborted();
    if (this.script.completeNever) {
      await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
      signal?.throwIfAborted();
    }
    return this.script.completion ?? "all-done";
  }

  async close(): Promise<void> {
    this.calls.push("close");
    this.#closed.abort();
    if (this.script.closeNever) await forever();
  }
}

/** Never settles, and keeps nothing alive. */
function forever(): Promise<never> {
  return new Promise(() => {});
}
