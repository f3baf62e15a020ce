import { assertNever } from "../core/index.ts";
import type { Delivery, WorkQueue } from "../queue/index.ts";
import type { InHand, StartedItem } from "./in-hand.ts";
import type { Notifier } from "./notifier.ts";
import type { Patience } from "./patience.ts";
import type { Puller } from "./puller.ts";

export interface DispatcherOptions {
  readonly queue: Pick<WorkQueue, "start">;
  readonly puller: Puller;
  readonly inHand: InHand;
  readonly notifier: Notifier;
  readonly patience: Patience;
  readonly signal: AbortSignal;
}

/** Items that were started together. */
export interface StartedChunk {
  readonly items: readonly StartedItem[];
  /** A suspect that runs with nothing beside it. */
  readonly isAlone: boolean;
}

/**
 * Starts chunks for the lanes. A suspect (an item that is known to have ended workers) starts only while nothing else in this worker is
 * started, and nothing else starts beside it, so that a further death can be laid at its door.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** Nothing may be started: a suspect runs, or a start that may turn out to be one is under way. */
  #isClosed = false;
  #starting = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** The next started chunk; undefined when there will be none. */
  async next(): Promise<StartedChunk | undefined> {
    const { puller, inHand, notifier, signal } = this.#options;
    let chunk: readonly Delivery[] | undefined;
    while (!signal.aborted) {
      if (this.#isClosed || (inHand.hasSuspects && !this.#isIdle)) {
        await notifier.changed;
        continue;
      }
      const suspect = inHand.takeSuspect();
      if (!suspect && !chunk) {
        chunk = await puller.take();
        // All was settled when the queue was found drained, so nobody else needs this lane either.
        if (!chunk) return undefined;
        continue;
      }
      const started = await this.#start(suspect ? [suspect] : (chunk ?? []));
      if (!suspect) chunk = undefined;
      if (!started) continue;
      if (chunk) puller.putBack(chunk);
      return started;
    }
    return undefined;
  }

  /** The suspect that ran alone is settled. */
  aloneIsOver(): void {
    this.#isClosed = false;
    this.#options.notifier.notify();
  }

  get #isIdle(): boolean {
    return this.#options.inHand.isIdle && this.#starting === 0;
  }

  async #start(chunk: readonly Delivery[]): Promise<StartedChunk | undefined> {
    const { queue, inHand, notifier, patience } = this.#options;
    const deliveries = chunk.filter((delivery) => inHand.holds(delivery));
    if (deliveries.length === 0) return undefined;
    const isIdle = this.#isIdle;
    // Until it is known whether this is a suspect, nobody may start beside it.
    if (isIdle) this.#isClosed = true;
    this.#starting += 1;
    let isAlone = false;
    try {
      const outcomes = await patience.call("start", () => queue.start(deliveries, { isIdle }));
      const items: StartedItem[] = [];
      for (const [i, delivery] of deliveries.entries()) {
        const outcome = outcomes[i];
        if (!outcome) continue;
        switch (outcome.kind) {
          case "started":
          case "started-alone": {
            const item: StartedItem = { delivery, claim: outcome.claim, failures: outcome.failures };
            isAlone ||= outcome.kind === "started-alone";
            inHand.started(item);
            items.push(item);
            break;
          }
          case "must-wait":
            inHand.mustWait(delivery);
            break;
          case "handed-back":
          case "settled":
            inHand.drop(delivery);
            break;
          default:
            assertNever(outcome);
        }
      }
      return items.length > 0 ? { items, isAlone } : undefined;
    } finally {
      this.#starting -= 1;
      if (isIdle) this.#isClosed = isAlone;
      notifier.notify();
    }
  }
}
