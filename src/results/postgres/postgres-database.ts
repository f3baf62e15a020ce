import type { Client, ClientBase, Pool, PoolClient, PoolConfig, QueryConfig } from "pg";
import { type Clock, isOutlastError, retry, systemClock } from "../../core/index.ts";
import { sqlState, translateError } from "./postgres-errors.ts";

/** In a transaction the server's limits hold, and this one for a server that has gone silent. */
const longestMs = 6 * 3_600_000;

/** Runs one statement and gives its rows. */
export type Query = <Row = Record<string, unknown>>(
  text: string,
  values?: readonly unknown[],
) => Promise<readonly Row[]>;

/** How to open a database. */
export interface PostgresDatabaseOptions {
  /** The URL for the client, password and all. */
  readonly connection: string;
  /** The same without the password. */
  readonly shown: string;
  /** @default 4 */
  readonly connections?: number;
  /** How long a statement may wait for a row or table. @default 10_000 */
  readonly lockTimeoutMs?: number;
  /** How long a statement may take. @default 60_000 */
  readonly statementTimeoutMs?: number;
  /** How often a call is tried that failed for a reason that heals. @default 6 */
  readonly attempts?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** A pool of connections that comes back by itself when the server does. */
export class PostgresDatabase {
  readonly shown: string;
  readonly #options: PostgresDatabaseOptions;
  readonly #clock: Clock;
  #pool: Promise<Pool> | undefined;
  #isClosed = false;
  /** Whether statements are prepared by name; not behind a pooler that gives every statement another connection. */
  #usesNames = true;

  constructor(options: PostgresDatabaseOptions) {
    this.shown = options.shown;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Runs one statement as a transaction of its own, prepared under `name`. Must be safe to repeat: it is, when the reply was lost. */
  async query<Row>(name: string, text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#retrying(name, async () => {
      const pool = await this.#open();
      try {
        return await this.#ask<Row>(pool, name, text, values);
      } catch (error) {
        const state = sqlState(error);
        if (!this.#usesNames || (state !== "26000" && state !== "42P05")) throw error;
        this.#usesNames = false;
        return this.#ask<Row>(pool, name, text, values);
      }
    });
  }

  /** Runs `act` in one transaction, again from its beginning when it failed for a reason that heals. */
  async transaction<T>(operation: string, act: (query: Query) => Promise<T>, begin = "BEGIN"): Promise<T> {
    return this.#retrying(operation, async () => {
      const client = await (await this.#open()).connect();
      try {
        await client.query(begin);
        const value = await act(queryOf(client));
        await client.query("COMMIT");
        client.release();
        return value;
      } catch (error) {
        // A connection in an unknown state is not used again; the server rolls back when it ends.
        client.release(true);
        throw error;
      }
    });
  }

  /** Runs one statement that may take as long as it needs. */
  async slowQuery<Row>(operation: string, text: string): Promise<readonly Row[]> {
    return this.transaction(operation, async (query) => {
      await query("SELECT set_config('statement_timeout', '0', true)");
      return query<Row>(text);
    });
  }

  /** A connection of its own, outside the pool; the caller ends it. */
  async connect(): Promise<Client> {
    const { Client } = await import("pg");
    const client = new Client(this.#config());
    // Without a listener a lost connection would end the process; the caller listens for `end`.
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await (await this.#pool)?.end();
  }

  async #ask<Row>(pool: Pool, name: string, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const query = { text, values: [...values], ...(this.#usesNames ? { name } : {}) };
    return (await pool.query(query)).rows as Row[];
  }

  async #retrying<T>(operation: string, act: () => Promise<T>): Promise<T> {
    return retry(
      async () => {
        try {
          return await act();
        } catch (error) {
          throw translateError(error, operation, this.shown);
        }
      },
      {
        clock: this.#clock,
        attempts: this.#options.attempts ?? 6,
        maxDelayMs: 1000,
        isTransient: (error) => !this.#isClosed && isOutlastError(error) && error.recovery === "retry",
      },
    );
  }

  async #open(): Promise<Pool> {
    if (this.#isClosed) throw new Error(`${this.shown} was closed`);
    this.#pool ??= this.#create();
    return this.#pool;
  }

  async #create(): Promise<Pool> {
    const { Pool } = await import("pg");
    // The pool waits for what this returns, though its type does not say so.
    const onConnect = this.#prepare as (client: ClientBase) => void;
    const pool = new Pool({ ...this.#config(), max: this.#options.connections ?? 4, onConnect });
    // An idle connection that breaks is replaced when the next one is needed; that call says what is wrong.
    pool.on("error", () => undefined);
    return pool;
  }

  #config(): PoolConfig {
    const { connection, statementTimeoutMs = 60_000 } = this.#options;
    return {
      connectionString: connection,
      application_name: "outlast",
      connectionTimeoutMillis: 10_000,
      // The server ends a statement that takes too long; this is for a server that does not even say so.
      query_timeout: statementTimeoutMs + 5_000,
      keepAlive: true,
    };
  }

  /** Set by statements, not at the start of the session: poolers refuse start parameters that they do not know. */
  readonly #prepare = async (client: ClientBase): Promise<void> => {
    const { lockTimeoutMs = 10_000, statementTimeoutMs = 60_000 } = this.#options;
    await client.query(
      `SELECT set_config('lock_timeout', '${lockTimeoutMs}', false), set_config('statement_timeout', '${statementTimeoutMs}', false),
        set_config('idle_in_transaction_session_timeout', '${statementTimeoutMs}', false),
        CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END`,
    );
  };
}

function queryOf(client: PoolClient): Query {
  return async <Row>(text: string, values: readonly unknown[] = []) =>
    (await client.query({ text, values: [...values], query_timeout: longestMs } as QueryConfig)).rows as Row[];
}
