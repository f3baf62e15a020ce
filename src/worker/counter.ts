import { assertNever, type Emitter } from "../core/index.ts";
import type { SettleOutcome } from "../results/index.ts";
import type { EndedItem } from "./chunk-at-work.ts";
import type { WorkerCounts, WorkerEvents } from "./types.ts";

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Counts what a worker did and tells it. */
export class Counter {
  readonly #events: Emitter<WorkerEvents>;
  readonly counts: Mutable<WorkerCounts> = {
    done: 0,
    failed: 0,
    dead: 0,
    handedBack: 0,
    late: 0,
    refused: 0,
    leasesLost: 0,
    handlerDeaths: 0,
    junkLines: 0,
  };

  constructor(events: Emitter<WorkerEvents>) {
    this.#events = events;
  }

  /** What became of a chunk's settlements; outcomes are in the order of the items. */
  settled(items: readonly EndedItem[], outcomes: readonly SettleOutcome[]): void {
    for (const [i, item] of items.entries()) {
      const outcome = outcomes[i];
      if (!outcome) continue;
      switch (outcome.kind) {
        case "accepted":
        case "repeated":
          this.#accepted(item, outcome);
          break;
        case "late":
          this.counts.late += 1;
          break;
        case "refused":
          this.counts.refused += 1;
          break;
        default:
          assertNever(outcome);
      }
    }
    this.#events.emit("worker:settled", this.counts);
  }

  #accepted(
    { ending, delivery: { id } }: EndedItem,
    outcome: { readonly isDead?: boolean; readonly delayMs?: number },
  ): void {
    if (ending.kind === "result") this.counts.done += 1;
    else if (ending.kind === "hand-back") this.counts.handedBack += 1;
    else if (outcome.isDead) {
      this.counts.dead += 1;
      this.#events.emit("worker:dead", { id, error: ending.error });
    } else {
      this.counts.failed += 1;
      const { error, retryDelayMs } = ending;
      this.#events.emit("worker:failure", { id, error, retryDelayMs: outcome.delayMs ?? retryDelayMs });
    }
  }
}
