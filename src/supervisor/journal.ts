import type { Clock, Deadline } from "../core/index.ts";

/** Where the time of one attempt went, in milliseconds; the parts add up to the attempt. */
export interface AttemptTime {
  /** From the start until the child could be started. */
  readonly restoringMs: number;
  /** From the child's start until the notice, or its end. */
  readonly runningMs: number;
  /** From the notice until the supervisor's end. */
  readonly stoppingMs: number;
}

/** How an attempt ended. `gang-ended`: another shard of the run started anew. */
export type Verdict = "finished" | "failed" | "evicted" | "superseded" | "interrupted" | "gang-ended";

/** What the supervisor writes down. Steps are undefined where the child does not tell them. */
export type JournalEvent =
  | {
      readonly event: "start";
      readonly attempt: number;
      readonly host: string;
      readonly shard: number;
      readonly of: number;
      readonly resumedStep: number | undefined;
      readonly restoreMs: number;
      /** Secrets taken out. */
      readonly command: readonly string[];
      readonly version: string;
    }
  | { readonly event: "first-step"; readonly step: number; readonly afterMs: number }
  /** A sign of life; a newer one takes the place of an older one. */
  | { readonly event: "progress"; readonly lastStep: number | undefined; readonly time: AttemptTime }
  | {
      readonly event: "notice";
      readonly source: string;
      readonly graceMs: number;
      readonly lastStep: number | undefined;
    }
  | {
      readonly event: "exit";
      readonly verdict: Verdict;
      readonly code: number;
      readonly noticeToExitMs: number | undefined;
      /** Whether the child had to be killed. */
      readonly forced: boolean;
      readonly lastStep: number | undefined;
      readonly committedStep: number | undefined;
      readonly time: AttemptTime;
    };

/** An event as stored at `journal/<epoch>/<k>.json`. */
export type JournalRecord = JournalEvent & { readonly format: 1; readonly at: string };

/** The part of a run's store that the journal writes to. */
export interface JournalStore {
  put(key: string, body: Uint8Array, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

export interface JournalOptions {
  readonly store: JournalStore;
  readonly epoch: number;
  readonly clock: Clock;
  /** Told of records that could not be written; the run goes on without them. */
  readonly onFailure: (error: unknown) => void;
  /** Least time between two signs of life. @default 30_000 */
  readonly progressEveryMs?: number;
}

/** More than this waiting means that the store does not answer; then the oldest is given up. */
const longestQueue = 32;

/**
 * Writes down what happened, for people. Nothing waits for it: records queue up and are written one after the other, and
 * whatever does not fit before the deadline is dropped. Commits are read from the log, never from here.
 */
export class JournalWriter {
  readonly #options: JournalOptions;
  readonly #queue: { readonly k: number; readonly record: JournalRecord }[] = [];
  readonly #giveUp = new AbortController();
  #k = 0;
  #lastWasProgress = false;
  #progressAt = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Notes an event; returns at once. Signs of life that come too often are left out. */
  record(event: JournalEvent): void {
    if (this.#giveUp.signal.aborted) return;
    const { clock, progressEveryMs = 30_000 } = this.#options;
    const isProgress = event.event === "progress";
    if (isProgress) {
      if (clock.monotonic() - this.#progressAt < progressEveryMs) return;
      this.#progressAt = clock.monotonic();
    }
    // A sign of life replaces the one before it, so that a month of them is one object.
    if (!(isProgress && this.#lastWasProgress)) this.#k += 1;
    this.#lastWasProgress = isProgress;
    this.#queue.push({ k: this.#k, record: { format: 1, at: new Date(clock.now()).toISOString(), ...event } });
    if (this.#queue.length > longestQueue) this.#queue.shift();
    this.#writing ??= this.#drain();
  }

  /** Resolves when everything noted is written, or at the deadline, whichever is first; never rejects. */
  async close(deadline?: Deadline): Promise<void> {
    const { clock } = this.#options;
    const done = new AbortController();
    const limit = deadline ? clock.sleep(deadline.remainingMs(), done.signal) : undefined;
    await Promise.race([this.#writing, ...(limit ? [limit] : [])]);
    done.abort();
    this.#giveUp.abort();
  }

  async #drain(): Promise<void> {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      const body = Buffer.from(`${JSON.stringify(next.record)}\n`);
      const key = `journal/${this.#options.epoch}/${next.k}.json`;
      try {
        await this.#options.store.put(key, body, { signal: this.#giveUp.signal });
      } catch (error) {
        if (!this.#giveUp.signal.aborted) this.#options.onFailure(error);
      }
    }
    this.#writing = undefined;
  }
}
