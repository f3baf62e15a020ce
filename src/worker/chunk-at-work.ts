import { assertNever, type Clock } from "../core/index.ts";
import type { Ending } from "../results/index.ts";
import type { StartedItem } from "./in-hand.ts";
import type { ItemMeter } from "./item-meter.ts";
import type { ItemAnswer } from "./protocol.ts";
import type { HandlerItem } from "./types.ts";

/** A started item and how it ended. */
export interface EndedItem extends StartedItem {
  readonly ending: Ending;
}

/** How a handler goes about a chunk: one item after the other, all as one, or each by itself at the same time. */
export type HandlingMode = "serial" | "together" | "parallel";

export interface ChunkOptions {
  readonly items: readonly StartedItem[];
  readonly mode: HandlingMode;
  readonly meter: ItemMeter;
  readonly clock: Clock;
  /** How long to wait before an item that failed so often is tried again. */
  readonly retryDelayMs: (failures: number) => number;
}

/** A chunk in the hands of a handler: which of its items have ended and which have not. */
export class ChunkAtWork {
  readonly #options: ChunkOptions;
  readonly #open: Map<string, StartedItem>;
  readonly #size: number;
  readonly #cut = new AbortController();
  readonly #sinceMs: number;
  #lastMs: number;
  #ended: EndedItem[] = [];

  constructor(options: ChunkOptions) {
    this.#options = options;
    this.#size = options.items.length;
    this.#open = new Map(options.items.map((item) => [item.delivery.id, item]));
    this.#sinceMs = options.clock.monotonic();
    this.#lastMs = this.#sinceMs;
  }

  /** Aborts when nobody waits for the handler any longer. */
  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  /** As the handler is given them. */
  get handlerItems(): HandlerItem[] {
    return [...this.#open.values()].map(({ delivery, failures }) => ({
      id: delivery.id,
      data: delivery.data,
      attempt: failures + 1,
    }));
  }

  /** Milliseconds since the last answer, or since the beginning. */
  get silentMs(): number {
    return this.#options.clock.monotonic() - this.#lastMs;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Takes an answer; one for an item that was handed back meanwhile comes too late to count. */
  answer(id: string, answer: ItemAnswer): void {
    const item = this.#open.get(id);
    if (!item) return;
    this.#open.delete(id);
    this.#measure();
    this.#ended.push({ ...item, ending: this.#endingOf(item, answer) });
  }

  /** What has ended and was not taken yet. */
  takeEnded(): readonly EndedItem[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  /** Gives up on everything that has not ended. */
  takeOpen(): readonly EndedItem[] {
    return this.#handBack(0);
  }

  /** Gives up on what will not be finished in the time left; the rest goes on. */
  trim(availableMs: number): readonly EndedItem[] {
    return this.#handBack(this.#fitting(availableMs));
  }

  /** Stops waiting for the handler. */
  cut(): void {
    this.#cut.abort();
  }

  #handBack(keep: number): readonly EndedItem[] {
    const given = [...this.#open.values()].slice(keep);
    for (const { delivery } of given) this.#open.delete(delivery.id);
    if (given.length > 0 && this.#open.size === 0) this.cut();
    return given.map((item) => ({ ...item, ending: { kind: "hand-back" } }));
  }

  #fitting(availableMs: number): number {
    const { mode, meter, clock } = this.#options;
    const count = this.#open.size;
    if (mode === "serial") return meter.fitting(count, availableMs, this.silentMs);
    const expectedMs = meter.expectedMs;
    if (expectedMs === undefined) return 0;
    const wholeMs = mode === "together" ? expectedMs * this.#size : expectedMs;
    return wholeMs - (clock.monotonic() - this.#sinceMs) <= availableMs ? count : 0;
  }

  #measure(): void {
    const { mode, meter, clock } = this.#options;
    const now = clock.monotonic();
    switch (mode) {
      case "serial":
        meter.add(now - this.#lastMs);
        break;
      case "together":
        meter.add((now - this.#sinceMs) / this.#size);
        break;
      case "parallel":
        meter.add(now - this.#sinceMs);
        break;
      default:
        assertNever(mode);
    }
    this.#lastMs = now;
  }

  #endingOf({ failures }: StartedItem, answer: ItemAnswer): Ending {
    if (answer.kind === "result") return answer;
    return { ...answer, retryDelayMs: this.#options.retryDelayMs(failures) };
  }
}
