import { Client } from "pg";
import { PgBoss } from "pg-boss";
import { runChild } from "../commands.ts";
import { chunk, row, workerCount } from "./items.ts";

const queue = "bench";
const batch = 1000;

/** pg-boss in a database of its own. */
export class Boss {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  /** Makes its tables, an empty queue and a table for the results. */
  async create(): Promise<void> {
    await this.#use((boss) => boss.createQueue(queue));
    await this.#sql("CREATE TABLE boss_results (id text PRIMARY KEY, result json)");
  }

  /** Its bulk insert, a thousand jobs a call; gives back the milliseconds it took. */
  fill(count: number): Promise<number> {
    return this.#use(async (boss) => {
      const began = performance.now();
      for (let from = 0; from < count; from += batch) {
        const size = Math.min(batch, count - from);
        await boss.insert(
          queue,
          Array.from({ length: size }, (_, i) => ({ data: row(from + i) })),
        );
      }
      return performance.now() - began;
    });
  }

  /** Empties queue and results. */
  async clear(): Promise<void> {
    await this.#sql("TRUNCATE boss_results; DELETE FROM pgboss.job");
  }

  /** So that what was inserted and deleted before costs nobody anything. */
  async vacuum(): Promise<void> {
    await this.#sql("VACUUM ANALYZE");
  }

  /** Works everything off with as many processes as we use. */
  async workOff(): Promise<void> {
    const input = { url: this.url, queue, chunk };
    await Promise.all(Array.from({ length: workerCount }, () => runChild("boss-worker", input)));
  }

  async #use<T>(act: (boss: PgBoss) => Promise<T>): Promise<T> {
    const boss = new PgBoss({ connectionString: this.url, supervise: false, schedule: false });
    await boss.start();
    try {
      return await act(boss);
    } finally {
      await boss.stop({ graceful: false });
    }
  }

  async #sql(text: string): Promise<void> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    await client.query(text);
    await client.end();
  }
}
