import { type Clock, systemClock } from "../../core/index.ts";
import type { ResultsAddress } from "../results-url.ts";
import type {
  Audit,
  DeadItem,
  Depth,
  Item,
  ItemKey,
  JsonValue,
  Ledger,
  NewItem,
  Settlement,
  SettleOutcome,
  StartOutcome,
} from "../types.ts";
import { auditItems } from "./audit.ts";
import { purgeStep, readDead, retryDead, retryMissing } from "./dead.ts";
import { readDepth } from "./depth.ts";
import { hasClaimable, leaseItems, releaseItems, renewItems } from "./lease.ts";
import { addItems, closePublications, isDrained, markSent, openPublication, pendingItems } from "./publications.ts";
import { missingTables, requireTables } from "./schema.ts";
import { settleItems } from "./settle.ts";
import { SqliteFile, type SqliteFileOptions } from "./sqlite-file.ts";
import { startItems } from "./start.ts";
import { lookAtTable, requireTable, type UserTable } from "./user-table.ts";

interface Opened {
  readonly file: SqliteFile;
  /** Looked at when it is first needed: counting needs no table of results. */
  table: UserTable | undefined;
}

/** Rows in one write: more would keep the event loop and the other workers waiting. */
const maxRows = 2_000;
/** Rows a step of a purge or retry touches. */
const stepRows = 1_000;
const pageRows = 2_000;
const slowestPollMs = 50;

/** The ledger and the results in one SQLite file. */
export class SqliteLedger implements Ledger {
  readonly url: string;
  readonly #address: Extract<ResultsAddress, { kind: "sqlite" }>;
  readonly #options: SqliteFileOptions;
  readonly #clock: Clock;
  #opened: Promise<Opened> | undefined;

  constructor(address: Extract<ResultsAddress, { kind: "sqlite" }>, options: SqliteFileOptions = {}) {
    this.url = address.shown;
    this.#address = address;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async prepare(): Promise<void> {
    await this.close();
    const file = await SqliteFile.open(this.#address.path, "create", this.#options);
    try {
      const make = () => {
        const { table, missing } = lookAtTable(file, this.#address.results);
        for (const statement of [...missingTables(file, "ledger"), ...missing]) file.run(statement);
        return table;
      };
      const table = await file.write("prepare", make, { isDurable: true });
      this.#opened = Promise.resolve({ file, table });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async plan(): Promise<readonly string[]> {
    const look = (file: SqliteFile) => [
      ...missingTables(file, "ledger"),
      ...lookAtTable(file, this.#address.results).missing,
    ];
    return SqliteFile.peek(this.#address.path, this.#options, look);
  }

  async openPublication(name: string): Promise<void> {
    await this.#write("publish", true, 1, ({ file }) => openPublication(file, name));
  }

  async closePublications(name: string): Promise<void> {
    await this.#write("publish", true, 1, ({ file }) => closePublications(file, name));
  }

  async add(items: readonly NewItem[]): Promise<number> {
    let added = 0;
    for (let i = 0; i < items.length; i += maxRows) {
      const part = items.slice(i, i + maxRows);
      added += await this.#write("publish", true, part.length, ({ file }) => addItems(file, part));
    }
    return added;
  }

  pending(after: string | undefined, limit: number): Promise<{ items: readonly Item[]; next: string | undefined }> {
    return this.#read("read", ({ file }) => pendingItems(file, after, Math.min(limit, pageRows)));
  }

  async markSent(items: readonly ItemKey[]): Promise<void> {
    await this.#write("publish", false, items.length, ({ file }) => markSent(file, items));
  }

  lease(max: number, leaseMs: number, holder: string): Promise<readonly Item[]> {
    return this.#write("lease", false, max, ({ file }) => leaseItems(file, max, leaseMs, holder));
  }

  renew(items: readonly ItemKey[], leaseMs: number, holder: string): Promise<readonly ItemKey[]> {
    return this.#write("renew", false, items.length, ({ file }) => renewItems(file, items, leaseMs, holder));
  }

  async release(items: readonly ItemKey[], holder: string): Promise<void> {
    await this.#write("release", false, items.length, ({ file }) => releaseItems(file, items, holder));
  }

  start(items: readonly ItemKey[], options: Parameters<Ledger["start"]>[1]): Promise<readonly StartOutcome[]> {
    return this.#write("start", false, items.length, ({ file }) => startItems(file, items, options));
  }

  settle(
    settlements: readonly Settlement[],
    options: Parameters<Ledger["settle"]>[1],
  ): Promise<readonly SettleOutcome[]> {
    return this.#write("settle", true, settlements.length, (use) =>
      settleItems(use.file, this.#tableOf(use), settlements, options),
    );
  }

  isDrained(): Promise<boolean> {
    return this.#read("read", ({ file }) => isDrained(file));
  }

  depth(): Promise<Depth> {
    return this.#read("count", ({ file }) => readDepth(file));
  }

  async audit(): Promise<Audit> {
    const table = await this.#read("audit", (use) => this.#tableOf(use));
    const { file } = await this.#use();
    return file.snapshot("audit", (own) => auditItems(own, table, this.#clock));
  }

  dead(after: string | undefined, limit: number): Promise<readonly DeadItem[]> {
    return this.#read("read", ({ file }) => readDead(file, after, Math.min(limit, pageRows)));
  }

  async retry(ids: readonly string[] | undefined): Promise<number> {
    return this.#inSteps("retry", (file) => retryDead(file, ids, stepRows));
  }

  async retryMissing(): Promise<number> {
    return this.#inSteps("retry", (file) => retryMissing(file, stepRows));
  }

  async purge(): Promise<number> {
    return this.#inSteps("purge", (file) => purgeStep(file, stepRows));
  }

  async *results(): AsyncIterable<{ readonly id: string; readonly result: JsonValue }> {
    // One page at a time rather than one snapshot: a slow reader must not make the write-ahead log grow without end.
    let after: string | undefined;
    for (;;) {
      const last: string | undefined = after;
      const page = await this.#read("export", (use) => this.#tableOf(use).page(use.file, last, pageRows));
      yield* page;
      after = page.at(-1)?.id;
      if (after === undefined || page.length < pageRows) return;
    }
  }

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    const end = this.#clock.monotonic() + ms;
    for (let pauseMs = 2; !signal?.aborted; pauseMs = Math.min(slowestPollMs, pauseMs * 2)) {
      const leftMs = end - this.#clock.monotonic();
      if (leftMs <= 0 || (await this.#read("read", ({ file }) => hasClaimable(file)))) return;
      await this.#clock.sleep(Math.min(pauseMs, leftMs), signal);
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    // One that failed to open has nothing to close; its caller was told.
    const file = await opened?.then((use) => use.file).catch(() => undefined);
    await file?.close();
  }

  async #write<T>(operation: string, isDurable: boolean, rows: number, act: (use: Opened) => T): Promise<T> {
    const use = await this.#use();
    return use.file.write(operation, () => act(use), { isDurable, rows });
  }

  async #read<T>(operation: string, act: (use: Opened) => T): Promise<T> {
    const use = await this.#use();
    return use.file.read(operation, () => act(use));
  }

  /** A long change in short transactions, each sound by itself; the last says so. */
  async #inSteps(operation: string, step: (file: SqliteFile) => { changed: number; isLast: boolean }): Promise<number> {
    for (let total = 0; ; ) {
      const { changed, isLast } = await this.#write(operation, true, stepRows, ({ file }) => step(file));
      total += changed;
      if (isLast) return total;
      // The other workers' turn.
      await this.#clock.sleep(0);
    }
  }

  #use(): Promise<Opened> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open(): Promise<Opened> {
    const file = await SqliteFile.open(this.#address.path, "existing", this.#options);
    try {
      await file.read("open", () => requireTables(file, "ledger"));
      return { file, table: undefined };
    } catch (error) {
      await file.close();
      this.#opened = undefined;
      throw error;
    }
  }

  #tableOf(use: Opened): UserTable {
    use.table ??= requireTable(use.file, this.#address.results);
    return use.table;
  }
}
