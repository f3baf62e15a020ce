import type { Clock } from "../core/index.ts";
import { ChunkAtWork, type EndedItem, type HandlingMode } from "./chunk-at-work.ts";
import type { Dispatcher, StartedChunk } from "./dispatcher.ts";
import { handleChunk } from "./handle-chunk.ts";
import type { HandlerHealth } from "./handler-health.ts";
import type { ItemHandler } from "./item-handler.ts";
import type { ItemMeter } from "./item-meter.ts";

/** A chunk that takes longer than this is settled piece by piece, so that a sudden end costs less. */
const settleEarlyMs = 1000;

export interface LaneOptions {
  readonly handler: ItemHandler;
  readonly dispatcher: Dispatcher;
  readonly health: HandlerHealth;
  readonly meter: ItemMeter;
  readonly mode: HandlingMode;
  readonly clock: Clock;
  readonly retryDelayMs: (failures: number) => number;
  /** Never rejects: a settlement that cannot be stored ends the worker. */
  readonly settle: (items: readonly EndedItem[]) => Promise<void>;
}

/** One handler and the chunk it works on. While it works the last chunk's settlement is under way, and never more than one. */
export class Lane {
  readonly #options: LaneOptions;
  #chunk: ChunkAtWork | undefined;
  #settling: Promise<void> = Promise.resolve();
  #settledAtMs = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get handler(): ItemHandler {
    return this.#options.handler;
  }

  /** Milliseconds without an answer; undefined when it has nothing to answer. */
  get silentMs(): number | undefined {
    return this.#chunk && this.#chunk.openCount > 0 ? this.#chunk.silentMs : undefined;
  }

  /** Works until there is no more work. */
  async run(): Promise<void> {
    const { dispatcher } = this.#options;
    for (;;) {
      const started = await dispatcher.next();
      if (!started) break;
      await this.#work(started);
    }
    await this.#settling;
  }

  /** Takes out what will not be finished in `availableMs`; the rest goes on. */
  trim(availableMs: number): readonly EndedItem[] {
    return this.#chunk?.trim(availableMs) ?? [];
  }

  /** What is answered and was not settled yet. */
  takeEnded(): readonly EndedItem[] {
    return this.#chunk?.takeEnded() ?? [];
  }

  /** Stops waiting for the handler; what it has not answered is handed back. */
  cut(): void {
    this.#chunk?.cut();
  }

  async #work({ items, isAlone }: StartedChunk): Promise<void> {
    const { handler, dispatcher, health, meter, mode, clock, retryDelayMs } = this.#options;
    const chunk = new ChunkAtWork({ items, mode, meter, clock, retryDelayMs });
    this.#chunk = chunk;
    this.#settledAtMs = clock.monotonic();
    let failed: { readonly error: unknown } | undefined;
    try {
      await handleChunk(chunk.handlerItems, {
        handler,
        health,
        signal: chunk.signal,
        onAnswer: (id, answer) => {
          chunk.answer(id, answer);
          if (chunk.openCount > 0 && clock.monotonic() - this.#settledAtMs >= settleEarlyMs) this.#settleEarly(chunk);
        },
      });
    } catch (error) {
      failed = { error };
    }
    // First those that ended, then those that did not: all in one transaction.
    const ended = [...chunk.takeEnded(), ...chunk.takeOpen()];
    this.#chunk = undefined;
    await this.#settling;
    this.#settling = this.#settle(ended);
    if (isAlone || failed) await this.#settling;
    if (isAlone) dispatcher.aloneIsOver();
    if (failed) throw failed.error;
  }

  #settleEarly(chunk: ChunkAtWork): void {
    this.#settledAtMs = this.#options.clock.monotonic();
    const ended = chunk.takeEnded();
    this.#settling = this.#settling.then(() => this.#settle(ended));
  }

  async #settle(ended: readonly EndedItem[]): Promise<void> {
    if (ended.length > 0) await this.#options.settle(ended);
  }
}
