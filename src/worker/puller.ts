import type { Clock } from "../core/index.ts";
import type { Delivery, WorkQueue } from "../queue/index.ts";
import type { InHand } from "./in-hand.ts";
import type { Patience } from "./patience.ts";

/** How long one pull waits for work. */
const longestWaitMs = 20_000;
/** How long an empty queue is waited for before it is asked whether it is drained: first, and at most. */
const firstAskMs = 250;
const lastAskMs = 5000;

export interface PullerOptions {
  readonly queue: Pick<WorkQueue, "pull" | "isDrained">;
  readonly chunk: number;
  readonly untilDrained: boolean;
  readonly inHand: InHand;
  readonly patience: Patience;
  readonly clock: Clock;
  /** Aborts when no more work is wanted. */
  readonly signal: AbortSignal;
  readonly onWaiting: (reason: string) => void;
}

/** Pulls chunks, one ahead of need and never more: what waits here is leased but not started. */
export class Puller {
  readonly #options: PullerOptions;
  #ahead: Promise<readonly Delivery[] | undefined> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #returned: (readonly Delivery[])[] = [];
  #isDrained = false;

  constructor(options: PullerOptions) {
    this.#options = options;
  }

  get isDrained(): boolean {
    return this.#isDrained;
  }

  /** The next chunk; undefined when there will be none. Callers are served in turn. */
  take(): Promise<readonly Delivery[] | undefined> {
    const taken = this.#turn.then(() => this.#takeNow());
    this.#turn = taken.catch(() => {
      // Its caller sees the error; the next in turn tries for itself.
    });
    return taken;
  }

  /** Gives a chunk back that could not be started yet; it is the next one taken. */
  putBack(chunk: readonly Delivery[]): void {
    this.#returned.push(chunk);
  }

  /** Waits for the pull under way; what it brought is in hand. */
  async settled(): Promise<void> {
    await this.#ahead?.catch(() => {
      // Told where it was awaited, or no longer of interest.
    });
  }

  async #takeNow(): Promise<readonly Delivery[] | undefined> {
    const back = this.#returned.shift();
    if (back) return back;
    const chunk = await (this.#ahead ?? this.#pull());
    this.#ahead = chunk === undefined ? undefined : this.#pull();
    // Awaited by the next taker or by `settled`; without either its failure must not end the process.
    this.#ahead?.catch(() => {});
    return chunk;
  }

  async #pull(): Promise<readonly Delivery[] | undefined> {
    const { queue, chunk, untilDrained, inHand, patience, signal, onWaiting } = this.#options;
    let askMs = firstAskMs;
    while (!signal.aborted && !this.#isDrained) {
      const waitMs = untilDrained ? askMs : longestWaitMs;
      const got = await patience.call("pull", () => queue.pull(chunk, { waitMs, signal }));
      inHand.pulled(got);
      if (got.length > 0) return got;
      if (signal.aborted) break;
      if (!untilDrained || !inHand.isEmpty) continue;
      if (await patience.call("isDrained", () => queue.isDrained())) {
        this.#isDrained = true;
        break;
      }
      if (askMs >= 1000) onWaiting("items are in the hands of other workers, delayed, or still being published");
      askMs = Math.min(lastAskMs, askMs * 2);
    }
    return undefined;
  }
}
