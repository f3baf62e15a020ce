import type { Emitter } from "../../core/index.ts";
import type { RunLog } from "../log/run-log.ts";
import type { LogState } from "../log/state.ts";
import { getManifest } from "../manifest-codec.ts";
import { collectLeftovers } from "../retention/collect.ts";
import { pruneCommits } from "../retention/prune.ts";
import type { RunStore } from "../run-store.ts";
import type { SessionEvents } from "../session-types.ts";
import type { ReuseBook } from "../ship/reuse-book.ts";
import { endOfTenure, type Tenure } from "../tenure.ts";
import type { SessionOptions } from "./session-options.ts";

export interface BackgroundOptions extends Pick<SessionOptions, "clock" | "keep" | "followMs"> {
  readonly run: RunStore;
  readonly log: RunLog;
  readonly tenure: Tenure;
  readonly book: ReuseBook;
  readonly events: Emitter<SessionEvents>;
}

/** What goes on beside the shipping: following the log, and removing what is no longer needed. Faults are warnings, never the end. */
export class Background {
  readonly #options: BackgroundOptions;
  readonly #halted = new AbortController();
  readonly #abandoned = new Set<string>();
  #tending: Promise<void> = Promise.resolve();

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  get #signal(): AbortSignal {
    return this.#halted.signal;
  }

  /** Looks at the log now and then: a later start may have taken over, other shards may have committed. Ends with the tenure. */
  async follow(): Promise<void> {
    const { clock, events, log, run, tenure, followMs = 10_000 } = this.#options;
    for (;;) {
      await clock.sleep(followMs, this.#signal);
      if (this.#signal.aborted) return;
      try {
        const head = await log.head(this.#signal);
        const ended = head && endOfTenure(head.state, run.run, tenure);
        if (ended) {
          const reason = ended.code === "OUTLAST_SUPERSEDED" ? "superseded" : "gang-ended";
          events.emit("session:ended", { reason, message: ended.message });
          return;
        }
        if (head && tenure.of > 1) await this.#learnCommits(head.state);
      } catch (error) {
        this.#warn("the run's log could not be read; trying again", error);
      }
    }
  }

  /** A shipment that no manifest will ever name. */
  abandon(owner: string): void {
    this.#abandoned.add(owner);
  }

  /** Drops what is not to be kept and deletes leftovers; one round at a time. */
  tend(): void {
    const { run, log, keep = 3 } = this.#options;
    this.#tending = this.#tending.then(async () => {
      if (this.#signal.aborted) return;
      try {
        const known = new Map<string, readonly string[]>();
        await pruneCommits(run, log, { keep, known }, this.#signal);
        const abandoned = new Set(this.#abandoned);
        await collectLeftovers(run, log, abandoned, this.#signal, known);
        for (const owner of abandoned) this.#abandoned.delete(owner);
      } catch (error) {
        this.#warn("old checkpoints could not be removed; trying again after the next one", error);
      }
    });
  }

  /** Resolves when no removal is under way. */
  settle(): Promise<void> {
    return this.#tending;
  }

  /** Ends what is under way and begins nothing more. */
  halt(): void {
    this.#halted.abort();
  }

  /** Another shard may have committed a step of ours; its chunks can be reused from then on. */
  async #learnCommits(state: LogState): Promise<void> {
    const { run, book, tenure } = this.#options;
    for (const commit of state.commits) {
      const ref = commit.manifests.find((manifest) => manifest.shard === tenure.shard);
      if (!ref || commit.gang !== tenure.gang || commit.damaged || book.knows(commit.at)) continue;
      book.add(commit.at, [await getManifest(run, ref, state.hash, this.#signal)]);
    }
  }

  #warn(message: string, error: unknown): void {
    if (!this.#signal.aborted) this.#options.events.emit("session:warning", { message, error });
  }
}
