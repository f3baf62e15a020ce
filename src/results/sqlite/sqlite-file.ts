import { existsSync } from "node:fs";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { type Clock, OutlastError, systemClock } from "../../core/index.ts";
import { requireLocalFile } from "./file-system.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { type Prepared, prepareStatement } from "./prepared.ts";
import { databaseError, isBusy } from "./sqlite-error.ts";
import { type Work, type WriteOptions, WriteQueue } from "./write-queue.ts";

/** One row as SQLite gives it. */
export type SqliteRow = Record<string, unknown>;

/** How {@link SqliteFile.open} opens. */
export interface SqliteFileOptions {
  /** For waits; leases take {@link SqliteFileOptions.now}. @default systemClock */
  readonly clock?: Clock;
  /** The database's clock: an SQLite file has its host's. @default clock.now */
  readonly now?: () => number;
  /** A number in [0, 1), for jitter. @default Math.random */
  readonly random?: () => number;
  /** Called before every statement; a test dies there. */
  readonly onStatement?: (sql: string) => void;
  /** Where the mounts are listed. @default "/proc/self/mountinfo" */
  readonly mountinfo?: string;
}

/** How long writes may follow one another before the event loop has its turn. */
const maxTurnMs = 10;
/** A lock that is not had by then is not contention: somebody sits on it. */
const maxBusyMs = 30_000;

/**
 * One SQLite file in one process: cached statements, transactions one after the other, waits that do not block the event loop.
 * A write that reports success is on disk when it asked to be durable; others survive a crash of the process, and are on disk
 * with the next durable one.
 */
export class SqliteFile {
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #onStatement: ((sql: string) => void) | undefined;
  readonly #statements = new Map<string, Prepared>();
  readonly #queue = new WriteQueue();
  #isDraining = false;
  #idle: Promise<void> = Promise.resolve();
  #isSyncedFully = true;
  #turnAt = 0;

  private constructor(path: string, db: DatabaseSync, options: SqliteFileOptions) {
    this.path = path;
    this.#db = db;
    this.#clock = options.clock ?? systemClock;
    this.#now = options.now ?? (() => this.#clock.now());
    this.#random = options.random ?? Math.random;
    this.#onStatement = options.onStatement;
  }

  /** `create` makes a missing file; `existing` refuses one. */
  static async open(path: string, mode: "create" | "existing", options: SqliteFileOptions): Promise<SqliteFile> {
    try {
      const real = await requireLocalFile(path, options.mountinfo);
      const file = new SqliteFile(path, connect(real, mode), options);
      // The change to a write-ahead log needs the file alone for a moment.
      await file.#patiently("open", () => {
        file.#db.exec("PRAGMA journal_mode=WAL");
      });
      file.#db.exec("PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-16384");
      return file;
    } catch (error) {
      throw databaseError(error, "open", path);
    }
  }

  /** Looks at a file without changing it; at an empty database where there is none yet. */
  static async peek<T>(path: string, options: SqliteFileOptions, act: (file: SqliteFile) => T): Promise<T> {
    try {
      const real = await requireLocalFile(path, options.mountinfo);
      const { DatabaseSync } = loadSqlite();
      const db = existsSync(real) ? new DatabaseSync(real, { readOnly: true }) : new DatabaseSync(":memory:");
      const file = new SqliteFile(path, db, options);
      try {
        return await file.read("open", () => act(file));
      } finally {
        await file.close();
      }
    } catch (error) {
      throw databaseError(error, "open", path);
    }
  }

  /** The database's time in milliseconds. */
  now(): number {
    return Math.floor(this.#now());
  }

  get isInTransaction(): boolean {
    return this.#db.isTransaction;
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    const { statement, bind } = this.#prepared(sql);
    return Number(statement.run(...bind(values)).changes);
  }

  get(sql: string, ...values: SQLInputValue[]): SqliteRow | undefined {
    const { statement, bind } = this.#prepared(sql);
    return statement.get(...bind(values));
  }

  all(sql: string, ...values: SQLInputValue[]): SqliteRow[] {
    const { statement, bind } = this.#prepared(sql);
    return statement.all(...bind(values));
  }

  /** Runs `act` inside a write transaction, perhaps with others of this process; all or nothing of it is there afterwards. */
  write<T>(operation: string, act: () => T, options: WriteOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { isDurable, rows = 1 } = options;
      // The queue holds work of every type; this one resolves with its own.
      this.#queue.push({ act, operation, isDurable, rows, resolve: resolve as Work["resolve"], reject });
      if (this.#isDraining) return;
      this.#isDraining = true;
      this.#idle = this.#drain();
    });
  }

  /** Runs `act` inside one snapshot; it must be short. */
  read<T>(operation: string, act: () => T): Promise<T> {
    return this.#patiently(operation, () => {
      this.#db.exec("BEGIN");
      try {
        return act();
      } finally {
        if (this.#db.isTransaction) this.#db.exec("COMMIT");
      }
    });
  }

  /** A snapshot that stays while the caller awaits; on a connection of its own, so that writes go on. */
  async snapshot<T>(operation: string, act: (file: SqliteFile) => Promise<T>): Promise<T> {
    const own = await SqliteFile.open(this.path, "existing", { clock: this.#clock, now: this.#now });
    try {
      own.#db.exec("BEGIN");
      return await act(own);
    } catch (error) {
      throw databaseError(error, operation, this.path);
    } finally {
      await own.close();
    }
  }

  /** Waits for writes under way. */
  async close(): Promise<void> {
    await this.#idle;
    if (!this.#db.isOpen) return;
    this.#statements.clear();
    this.#db.close();
  }

  async #drain(): Promise<void> {
    // What is asked for in the same turn of the event loop shares a commit: a chunk's settlement, the next one's start and the pull after it.
    await new Promise((resolve) => setImmediate(resolve));
    while (!this.#queue.isEmpty) {
      await this.#takeTurns();
      try {
        await this.#patiently("write", () => this.#commitNext());
      } catch (error) {
        const [work] = this.#queue.next();
        if (!work) continue;
        this.#queue.take([work]);
        work.reject(databaseError(error, work.operation, this.path));
      }
    }
    this.#isDraining = false;
  }

  /**
   * Writes resolve promises, which ask for more writes: without a turn for the event loop now and then, a busy worker would hear
   * neither timers nor signals.
   */
  async #takeTurns(): Promise<void> {
    if (this.#clock.monotonic() - this.#turnAt < maxTurnMs) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnAt = this.#clock.monotonic();
  }

  /** In one go, from BEGIN to COMMIT: nothing else of this process may come between. Throws when the lock is not to be had. */
  #commitNext(): void {
    const group = this.#queue.next();
    const isDurable = group.some((work) => work.isDurable);
    if (isDurable !== this.#isSyncedFully) {
      this.#db.exec(isDurable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
      this.#isSyncedFully = isDurable;
    }
    this.run("BEGIN IMMEDIATE");
    this.#queue.take(group);
    this.#commitGroup(group);
  }

  #commitGroup(group: readonly Work[]): void {
    const values: unknown[] = [];
    try {
      for (const work of group) values.push(work.act());
      this.run("COMMIT");
    } catch (error) {
      this.#rollBack();
      this.#failGroup(group, error);
      return;
    }
    this.#onStatement?.("-- committed");
    group.forEach((work, i) => {
      work.resolve(values[i]);
    });
  }

  #failGroup(group: readonly Work[], error: unknown): void {
    const [only] = group;
    if (group.length === 1 && only) only.reject(databaseError(error, only.operation, this.path));
    else this.#queue.putBackAlone(group);
  }

  #rollBack(): void {
    // A full disk or a failed write has rolled back already.
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
  }

  /** Tries until the lock is had. Never by SQLite's own busy handler: it blocks the event loop, and starves. */
  async #patiently<T>(operation: string, act: () => T): Promise<T> {
    const since = this.#clock.monotonic();
    for (;;) {
      try {
        return act();
      } catch (error) {
        if (!isBusy(error) || this.#clock.monotonic() - since > maxBusyMs) {
          throw databaseError(error, operation, this.path);
        }
      }
      await this.#clock.sleep(1 + this.#random() * 7);
    }
  }

  #prepared(sql: string): Prepared {
    this.#onStatement?.(sql);
    const known = this.#statements.get(sql);
    if (known) return known;
    const made = prepareStatement(this.#db, sql);
    this.#statements.set(sql, made);
    return made;
  }
}

function connect(path: string, mode: "create" | "existing"): DatabaseSync {
  if (mode === "existing" && !existsSync(path)) {
    throw new OutlastError("OUTLAST_DATABASE_UNSUITABLE", `there is no database at ${path}`, {
      operation: "open",
      target: path,
      hint: "check the path; `outlast publish` and `outlast queue create` make it",
    });
  }
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(path);
  db.exec("PRAGMA busy_timeout=0");
  return db;
}
