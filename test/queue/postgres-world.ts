import { openBroker, openQueueParts } from "../../src/queue/index.ts";
import { openLedger } from "../../src/results/index.ts";
import type { PostgresServer } from "../servers/postgres.ts";
import type { BrokerUnderTest } from "./broker-suite.ts";
import type { OpenLedger } from "./ledger-world.ts";
import type { QueueUnderTest } from "./queue-world.ts";

/** A database for one test, with nothing in it. */
export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  /** Empties it and keeps it for another test: that is much quicker than making one. */
  readonly dispose: () => Promise<void>;
}

const unused = new WeakMap<PostgresServer, TestDatabase[]>();
let databases = 0;

/** Takes or makes an empty database. */
export async function newDatabase(server: PostgresServer): Promise<TestDatabase> {
  const others = unused.get(server) ?? [];
  unused.set(server, others);
  const other = others.pop();
  if (other) return other;
  databases += 1;
  const name = `test_${process.pid}_${databases}`;
  const database: TestDatabase = {
    name,
    url: await server.createDatabase(name),
    dispose: async () => {
      const emptied = "DROP SCHEMA IF EXISTS outlast CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public";
      await server.query(`${emptied}; GRANT USAGE ON SCHEMA public TO PUBLIC`, name);
      others.push(database);
    },
  };
  return database;
}

/**
 * Lets time pass for a database: whatever it has written down moves into the past, which to every statement is the same as a later
 * clock.
 */
export async function passTime(server: PostgresServer, database: string, ms: number): Promise<void> {
  const later = `- ${ms} * interval '1 ms'`;
  await server.query(
    `DO $$ BEGIN
      IF to_regclass('outlast.items') IS NOT NULL THEN
        UPDATE outlast.items SET visible_at = visible_at ${later}, added_at = added_at ${later}, settled_at = settled_at ${later};
        UPDATE outlast.tally SET at = at ${later};
      END IF;
      IF to_regclass('outlast.messages') IS NOT NULL THEN
        UPDATE outlast.messages SET visible_at = visible_at ${later} WHERE visible_at IS NOT NULL;
      END IF;
    END $$`,
    database,
  );
}

/** A ledger in a new database. */
export function openPostgresLedgers(server: () => PostgresServer): OpenLedger {
  return async (query = "") => {
    const { name, url, dispose } = await newDatabase(server());
    const open = () => openLedger(query === "" ? url : `${url}?${query}`);
    const ledger = await open();
    return {
      ledger,
      openAgain: open,
      advance: (ms) => passTime(server(), name, ms),
      tamper: async (change) => {
        if ("insert" in change) await server().query(`INSERT INTO results VALUES ('${change.insert}', '"old"')`, name);
        else await server().query(`DELETE FROM results WHERE id = '${change.remove}'`, name);
      },
      dispose: async () => {
        await ledger.close();
        await dispose();
      },
    };
  };
}

/** A queue in Postgres: with its results in one database, in two, or with another kind of results. */
export async function openPostgresQueue(
  server: PostgresServer,
  layout:
    | "direct"
    | "split"
    | { readonly results: string; readonly now: () => number; readonly pass: (ms: number) => void },
): Promise<QueueUnderTest> {
  const queue = await newDatabase(server);
  const other = layout === "split" ? await newDatabase(server) : undefined;
  const results = typeof layout === "object" ? layout.results : other?.url;
  return {
    parts: () => openQueueParts(queue.url, results, typeof layout === "object" ? { now: layout.now } : {}),
    advance: async (ms) => {
      await passTime(server, queue.name, ms);
      if (other) await passTime(server, other.name, ms);
      if (typeof layout === "object") layout.pass(ms);
    },
    dispose: async () => {
      await queue.dispose();
      await other?.dispose();
    },
  };
}

/** A broker in a new database. */
export async function openPostgresBrokers(server: PostgresServer): Promise<BrokerUnderTest> {
  const { name, url, dispose } = await newDatabase(server);
  const open = () => openBroker(url);
  const broker = await open();
  return {
    broker,
    openAgain: open,
    advance: (ms) => passTime(server, name, ms),
    leaseMs: 30_000,
    canDelay: true,
    isFenced: true,
    dispose: async () => {
      await broker.close();
      await dispose();
    },
  };
}
