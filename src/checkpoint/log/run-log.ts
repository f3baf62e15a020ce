import { createHash } from "node:crypto";
import { type Clock, isOutlastError, OutlastError, randomId } from "../../core/index.ts";
import type { RunStore } from "../run-store.ts";
import { decodeRecord, encodeRecord, type LogRecord, type RecordBody, recordKey } from "./record.ts";
import { applyRecord } from "./rules.ts";

/** What a decision may answer: a record to append, or a result that needs none. */
export type Decision<T> = { readonly append: RecordBody } | { readonly result: T };

/** How an append ended: with our record at the head, or with a result that needed none. */
export type Appended<T> = { readonly appended: LogRecord } | { readonly result: T };

export interface RunLogOptions {
  readonly clock: Clock;
  /** @default randomId */
  readonly newId?: () => string;
  /** Whether to read and write `latest.json`. @default true */
  readonly useHint?: boolean;
}

/** Object stores take about one write a second to the same name; the hint is not worth more. */
const hintEveryMs = 1000;

/**
 * The run's log: records at positions 1, 2, 3 …, each created if absent, never changed or deleted. It remembers the newest
 * record it has seen, so that following the log costs one request when nothing is new.
 */
export class RunLog {
  readonly #run: RunStore;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #useHint: boolean;
  #head: LogRecord | undefined;
  #hintedAt = Number.NEGATIVE_INFINITY;

  constructor(run: RunStore, options: RunLogOptions) {
    this.#run = run;
    this.#clock = options.clock;
    this.#newId = options.newId ?? randomId;
    this.#useHint = options.useHint ?? true;
  }

  /** The newest record seen so far; asks nobody. */
  get seen(): LogRecord | undefined {
    return this.#head;
  }

  /** The newest record there is; undefined when the log is empty. */
  async head(signal?: AbortSignal): Promise<LogRecord | undefined> {
    if (!this.#head) {
      const hinted = await this.#readHint(signal);
      const record = hinted ? await this.#read(hinted, signal) : undefined;
      if (record) this.#saw(record);
      if (hinted && !record) {
        throw new OutlastError(
          "OUTLAST_LOG_LOST",
          `log record ${hinted} of run ${this.#run.run} is gone: latest.json names it`,
          {
            target: `${this.#run.store.url}/${this.#run.prefix}${recordKey(hinted)}`,
            hint: "restore the log/ objects from a backup, or start over under another --run name",
          },
        );
      }
    }
    await this.#runToHead(signal);
    return this.#head;
  }

  /**
   * Appends what `decide` wants, decided on the newest record. If another writer took the position, the decision is made again on what it
   * wrote; an old decision is never repeated. Rejects with `RuleBroken` if the decision breaks the protocol.
   */
  async append<T>(
    decide: (head: LogRecord | undefined) => Decision<T> | Promise<Decision<T>>,
    signal?: AbortSignal,
  ): Promise<Appended<T>> {
    await this.head(signal);
    for (;;) {
      // Held: another call on this log may move #head while the decision is made; the position then turns out to be taken.
      const head = this.#head;
      const decision = await decide(head);
      if ("result" in decision) return decision;
      const n = (head?.n ?? 0) + 1;
      const at = new Date(this.#clock.now()).toISOString();
      const state = applyRecord(head?.state, decision.append, { n, at });
      const record: LogRecord = { format: 1, n, id: this.#newId(), at, body: decision.append, state };
      if (await this.#create(record, signal)) {
        this.#saw(record);
        await this.#writeHint(record, signal);
        return { appended: record };
      }
      await this.#runToHead(signal);
    }
  }

  /** Whether `record` now stands at its position. An "exists" or a failed call may hide our own success: the id tells. */
  async #create(record: LogRecord, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      if ((await this.#run.putIfAbsent(recordKey(record.n), encodeRecord(record), { signal })) === "created")
        return true;
    } catch (error) {
      const there = await this.#read(record.n, signal);
      if (!there) throw error;
      return there.id === record.id;
    }
    return (await this.#read(record.n, signal))?.id === record.id;
  }

  /** Doubling, then bisection: positions are filled without gaps, so "is there" is true up to the head and false after it. */
  async #runToHead(signal: AbortSignal | undefined): Promise<void> {
    let known = this.#head;
    let step = 1;
    let missing: number | undefined;
    while (missing === undefined) {
      const next: LogRecord | undefined = await this.#read((known?.n ?? 0) + step, signal);
      if (next) known = next;
      else missing = (known?.n ?? 0) + step;
      step *= 2;
    }
    while (missing - (known?.n ?? 0) > 1) {
      const middle = Math.floor(((known?.n ?? 0) + missing) / 2);
      const record: LogRecord | undefined = await this.#read(middle, signal);
      if (record) known = record;
      else missing = middle;
    }
    if (known) this.#saw(known);
  }

  /** Never back: calls that overlap may see records in any order. */
  #saw(record: LogRecord): void {
    if (record.n > (this.#head?.n ?? 0)) this.#head = record;
  }

  async #read(n: number, signal: AbortSignal | undefined): Promise<LogRecord | undefined> {
    let bytes: Uint8Array;
    try {
      bytes = await this.#run.get(recordKey(n), { signal });
    } catch (error) {
      if (isOutlastError(error, "OUTLAST_OBJECT_NOT_FOUND")) return undefined;
      throw error;
    }
    return decodeRecord(bytes, n, this.#run.prefix + recordKey(n));
  }

  /** The hint's position, if there is a whole hint. What it says is never trusted; that its record must exist is. */
  async #readHint(signal: AbortSignal | undefined): Promise<number | undefined> {
    if (!this.#useHint) return undefined;
    try {
      const hint = JSON.parse(
        Buffer.from(await this.#run.get("latest.json", { signal })).toString("utf8"),
      ) as Hint | null;
      return hint !== null && hint.check === hintCheck(hint) && Number.isSafeInteger(hint.n) && hint.n > 0
        ? hint.n
        : undefined;
    } catch (error) {
      // A missing, torn or foreign hint only costs a few requests more.
      if (error instanceof SyntaxError || isOutlastError(error, "OUTLAST_OBJECT_NOT_FOUND")) return undefined;
      throw error;
    }
  }

  async #writeHint(record: LogRecord, signal: AbortSignal | undefined): Promise<void> {
    const now = this.#clock.monotonic();
    if (!this.#useHint || now - this.#hintedAt < hintEveryMs) return;
    this.#hintedAt = now;
    const newest = record.state.commits.at(-1);
    const hint: Omit<Hint, "check"> = { n: record.n, id: record.id, step: newest?.step ?? null, at: record.at };
    try {
      await this.#run.put("latest.json", Buffer.from(JSON.stringify({ ...hint, check: hintCheck(hint) })), { signal });
    } catch {
      // The record stands; without a fresh hint the next reader searches a little longer.
    }
  }
}

interface Hint {
  readonly n: number;
  readonly id: string;
  readonly step: number | null;
  readonly at: string;
  readonly check: string;
}

function hintCheck(hint: Omit<Hint, "check">): string {
  return createHash("sha256").update(`${hint.n} ${hint.id} ${hint.step} ${hint.at}`).digest("hex").slice(0, 16);
}
