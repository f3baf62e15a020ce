import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openBroker, openQueueParts } from "../../src/queue/index.ts";
import { openLedger } from "../../src/results/index.ts";
import type { BrokerUnderTest } from "./broker-suite.ts";
import type { OpenLedger } from "./ledger-world.ts";
import type { QueueUnderTest } from "./queue-world.ts";

/** A clock that tests set by hand, standing for the database's. */
export class DatabaseClock {
  #ms = 1_700_000_000_000;

  readonly now = (): number => this.#ms;

  advance(ms: number): void {
    this.#ms += ms;
  }
}

/** A directory that goes with the test; in memory where there is one: these tests commit thousands of times. */
export async function temporaryFolder(): Promise<{ readonly path: string; readonly dispose: () => Promise<void> }> {
  const path = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "outlast-queue-"));
  return { path, dispose: () => rm(path, { recursive: true, force: true }) };
}

/** A ledger in a new SQLite file. */
export const openSqliteLedger: OpenLedger = async (query = "") => {
  const folder = await temporaryFolder();
  const clock = new DatabaseClock();
  const path = join(folder.path, "work.db");
  const url = `sqlite:${path}${query === "" ? "" : `?${query}`}`;
  const open = () => openLedger(url, { now: clock.now });
  const ledger = await open();
  return {
    ledger,
    openAgain: open,
    advance: async (ms) => clock.advance(ms),
    tamper: async (change) => {
      const db = new DatabaseSync(path);
      if ("insert" in change) db.prepare("INSERT INTO results (id, result) VALUES (?, '\"old\"')").run(change.insert);
      else db.prepare("DELETE FROM results WHERE id = ?").run(change.remove);
      db.close();
    },
    dispose: async () => {
      await ledger.close();
      await folder.dispose();
    },
  };
};

/** A queue in SQLite: with its results in one file, or in two. */
export async function openSqliteQueue(layout: "direct" | "split"): Promise<QueueUnderTest> {
  const folder = await temporaryFolder();
  const clock = new DatabaseClock();
  const queue = `sqlite:${join(folder.path, "queue.db")}`;
  const results = layout === "split" ? `sqlite:${join(folder.path, "results.db")}` : undefined;
  return {
    parts: () => openQueueParts(queue, results, { now: clock.now }),
    advance: async (ms) => clock.advance(ms),
    dispose: folder.dispose,
  };
}

/** A broker in a new SQLite file. */
export async function openSqliteBroker(): Promise<BrokerUnderTest> {
  const folder = await temporaryFolder();
  const clock = new DatabaseClock();
  const open = () => openBroker(`sqlite:${join(folder.path, "queue.db")}`, { now: clock.now });
  const broker = await open();
  return {
    broker,
    openAgain: open,
    advance: async (ms) => clock.advance(ms),
    leaseMs: 30_000,
    canDelay: true,
    isFenced: true,
    dispose: async () => {
      await broker.close();
      await folder.dispose();
    },
  };
}
