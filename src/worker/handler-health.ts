import { OutlastError } from "../core/index.ts";
import type { HandlerItem } from "./types.ts";

/** So many different items in a row that a handler did not survive say more about the handler than about them. */
const enough = 3;

/**
 * Tells a poisonous item from a handler that does not work at all (a missing library, a lost GPU): the first is charged, the second must not
 * eat the queue. Shared by all handlers of a worker.
 */
export class HandlerHealth {
  #hasEverAnswered = false;
  #hasLivedIdle = false;
  readonly #diedOn = new Map<string, number>();

  /** Some item was answered. */
  answered(): void {
    this.#hasEverAnswered = true;
    this.#diedOn.clear();
  }

  /** A fresh handler died on this item alone. */
  died(item: HandlerItem): void {
    this.#diedOn.set(item.id, item.attempt);
  }

  /** One that was given nothing stayed alive. */
  livedIdle(): void {
    this.#hasLivedIdle = true;
  }

  /** Whether to see if a handler lives at all before anything is charged. */
  get isDoubtful(): boolean {
    const isProven = this.#hasEverAnswered || this.#hasLivedIdle;
    return this.#diedOn.size > 0 && (!isProven || this.#diedOn.size >= enough);
  }

  /** Whether it never answered and died on item after item, none of which ever failed before. */
  get isHopeless(): boolean {
    const firsts = [...this.#diedOn.values()].filter((attempt) => attempt === 1).length;
    return !this.#hasEverAnswered && this.#diedOn.size >= enough && firsts === this.#diedOn.size;
  }
}

/** The end of a worker whose handler does not work. */
export function handlerFailed(message: string, error: string): OutlastError {
  return new OutlastError("OUTLAST_HANDLER_FAILED", `${message}: ${error}`, {
    hint: "run the handler by hand and give it one line, as docs/reference/handler-protocol.md shows; nothing was charged, and the items are back in the queue",
    operation: "handle",
  });
}
