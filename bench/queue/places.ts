import { rm } from "node:fs/promises";
import { hasPostgres, type PostgresServer, startPostgres } from "../../test/servers/postgres.ts";
import { hasPubSub, type PubSubServer, startPubSub } from "../../test/servers/pubsub.ts";

/** Where a queue is measured. */
export interface Place {
  readonly name: string;
  readonly queue: string;
  readonly results?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** The shortest lease it can do, or 5 s. */
  readonly leaseMs: number;
}

/** New places, one after the other; the servers that are installed are started on first use. */
export class Places {
  readonly #folder: string;
  #postgres: PostgresServer | undefined;
  #pubSub: PubSubServer | undefined;
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async sqlite(): Promise<Place> {
    this.#count += 1;
    const path = this.pathOf(this.#count);
    return { name: "SQLite", queue: `sqlite:${path}`, env: {}, leaseMs: 5000 };
  }

  /** Undefined where no server is installed. */
  async postgres(): Promise<Place | undefined> {
    if (!hasPostgres()) return undefined;
    this.#postgres ??= await startPostgres();
    this.#count += 1;
    return {
      name: "Postgres",
      queue: await this.#postgres.createDatabase(`queue_${this.#count}`),
      env: {},
      leaseMs: 5000,
    };
  }

  /** Messages in the emulator, results in SQLite; undefined where it is not installed. */
  async pubSub(): Promise<Place | undefined> {
    if (!hasPubSub()) return undefined;
    this.#pubSub ??= await startPubSub();
    // Our own client in this process, which fills and looks, reads it from there.
    Object.assign(process.env, this.#pubSub.env);
    this.#count += 1;
    return {
      name: "Pub/Sub",
      queue: `pubsub://bench/queue-${this.#count}?topic=queue-${this.#count}`,
      results: `sqlite:${this.pathOf(this.#count)}`,
      env: this.#pubSub.env,
      leaseMs: 10_000,
    };
  }

  /** The SQLite file of the place of that number. */
  pathOf(number: number): string {
    return `${this.#folder}/place-${number}.db`;
  }

  async dispose(): Promise<void> {
    await Promise.all([this.#postgres?.stop(), this.#pubSub?.stop()]);
    for (let number = 1; number <= this.#count; number += 1) {
      for (const end of ["", "-wal", "-shm"]) await rm(`${this.pathOf(number)}${end}`, { force: true });
    }
  }
}
