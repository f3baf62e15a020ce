import type { Client } from "pg";
import { type Clock, randomId } from "../../core/index.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

/** Whether something is claimable, and if not, in how many milliseconds the next lease or delay ends. */
export interface NextWork {
  readonly isReady: boolean;
  readonly inMs: number | null;
}

/** How often to look when the server does not call. */
export const pollEveryMs = 500;

/**
 * Hears `NOTIFY` on a connection of its own. Nothing depends on it but speed: behind a pooler that gives every transaction another
 * connection nothing is ever heard, which a message to ourselves finds out, and then the queue is looked at every half second.
 */
export class WakeUp {
  readonly #database: PostgresDatabase;
  readonly #channel: string;
  readonly #clock: Clock;
  #client: Promise<Client | undefined> | undefined;
  #isProven = false;
  #wasCalled = false;
  #isClosed = false;
  #nextTryAt = 0;
  #waiting = new Set<() => void>();

  constructor(database: PostgresDatabase, channel: string, clock: Clock) {
    this.#database = database;
    this.#channel = channel;
    this.#clock = clock;
  }

  /** To be called before looking at the queue: what is called after that ends the next wait at once. */
  forget(): void {
    this.#wasCalled = false;
  }

  /**
   * Waits until something may be claimable, `ms` at most. `next` asks whether something is, and when the next lease or delay ends: nobody
   * calls for that.
   */
  async wait(ms: number, signal: AbortSignal | undefined, next: () => Promise<NextWork>): Promise<void> {
    const until = this.#clock.monotonic() + ms;
    // Whatever the database does, nobody waits longer than was asked.
    const ended = new AbortController();
    const end = () => ended.abort();
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    try {
      await Promise.race([this.#clock.sleep(ms, ended.signal), this.#waitForWork(until, ended.signal, next)]);
    } finally {
      signal?.removeEventListener("abort", end);
      end();
    }
  }

  async #waitForWork(until: number, signal: AbortSignal, next: () => Promise<NextWork>): Promise<void> {
    await this.#listen();
    try {
      const { isReady, inMs } = await next();
      if (isReady) return;
      const leftMs = until - this.#clock.monotonic();
      await this.#waitForCall(Math.max(0, Math.min(leftMs, inMs ?? leftMs)), signal);
    } catch {
      // The claim that follows will say what is wrong with the database.
      await this.#clock.sleep(Math.max(0, until - this.#clock.monotonic()), signal);
    }
  }

  /** Begins to listen, if it does not. Never throws: without it waiting is polling. */
  async #listen(): Promise<void> {
    if (this.#isClosed || (!this.#client && this.#clock.monotonic() < this.#nextTryAt)) return;
    this.#client ??= this.#connect();
    await this.#client;
  }

  /** Waits for a call, `ms` at most; less where calls are not known to come through. */
  async #waitForCall(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#wasCalled || signal.aborted) return;
    const ended = new AbortController();
    const wake = () => ended.abort();
    this.#waiting.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    try {
      await this.#clock.sleep(this.#isProven ? ms : Math.min(ms, pollEveryMs), ended.signal);
    } finally {
      this.#waiting.delete(wake);
      signal.removeEventListener("abort", wake);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#call();
    const client = await this.#client;
    await client?.end();
  }

  #call(): void {
    this.#wasCalled = true;
    for (const wake of this.#waiting) wake();
  }

  async #connect(): Promise<Client | undefined> {
    try {
      const client = await this.#database.connect();
      const proof = randomId();
      client.on("notification", ({ payload }) => {
        if (payload === proof) this.#isProven = true;
        else if (payload === "") this.#call();
      });
      client.once("end", () => this.#lost());
      await client.query(`LISTEN ${client.escapeIdentifier(this.#channel)}`);
      await client.query("SELECT pg_notify($1, $2)", [this.#channel, proof]);
      return client;
    } catch {
      // The calls that matter will say what is wrong with the database; this one is only for speed.
      this.#lost();
      return undefined;
    }
  }

  #lost(): void {
    this.#client = undefined;
    this.#isProven = false;
    this.#nextTryAt = this.#clock.monotonic() + 5_000;
    this.#call();
  }
}
