import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openQueueParts } from "../../src/queue/index.ts";
import { openLedger, SqliteFile } from "../../src/results/index.ts";
import { canMount, mountTmpfs, unmount } from "../evictions/support/small-disk.ts";
import { needs } from "../support/need.ts";
import { LedgerWorker, publish, result } from "./ledger-world.ts";
import { temporaryFolder } from "./sqlite-world.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder.path, "work.db");
});
afterEach(() => folder.dispose());

async function prepared() {
  const ledger = await openLedger(`sqlite:${path}`);
  await ledger.prepare();
  return ledger;
}

describe("writing", () => {
  it("waits for another's lock without stopping the event loop, and then goes on", async () => {
    const ledger = await prepared();
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    let turns = 0;
    let isDone = false;
    const writing = ledger.openPublication("p").then(() => {
      isDone = true;
    });
    for (let i = 0; i < 50; i += 1) {
      turns += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect([turns, isDone]).toEqual([50, false]);
    other.exec("COMMIT");
    other.close();
    await writing;
    expect((await ledger.depth()).openPublications).toBe(1);
    await ledger.close();
  });

  it("keeps a write that fails from taking its neighbours with it", async () => {
    const file = await SqliteFile.open(path, "create", {});
    await file.write("make", () => file.run("CREATE TABLE t (a UNIQUE)"), { isDurable: true });
    const put = (a: number) => file.write("put", () => file.run("INSERT INTO t VALUES (?)", a), { isDurable: false });
    const outcomes = await Promise.allSettled([put(1), put(2), put(1), put(3)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(file.all("SELECT a FROM t ORDER BY a").map((row) => row["a"])).toEqual([1, 2, 3]);
    await file.close();
  });

  it("commits together what is asked for together", async () => {
    const statements: string[] = [];
    const file = await SqliteFile.open(path, "create", { onStatement: (each) => statements.push(each) });
    await file.write("make", () => file.run("CREATE TABLE t (a)"), { isDurable: true });
    statements.length = 0;
    const put = () => file.write("put", () => file.run("INSERT INTO t VALUES (1)"), { isDurable: false });
    await Promise.all([put(), put(), put()]);
    expect(statements.filter((each) => each === "COMMIT")).toHaveLength(1);
    await file.close();
  });

  it("gives timers and signals their turn, however many writes follow one another", async () => {
    const file = await SqliteFile.open(path, "create", {});
    let isHeard = false;
    const timer = setTimeout(() => {
      isHeard = true;
    }, 5);
    let writes = 0;
    while (!isHeard && writes < 20_000) {
      await file.write("nothing", () => 0, { isDurable: false });
      writes += 1;
    }
    clearTimeout(timer);
    await file.close();
    expect(isHeard).toBe(true);
  });

  it("reads beside writes that wait in the same turn", async () => {
    const ledger = await prepared();
    const writing = Array.from({ length: 20 }, (_, i) => ledger.add([{ id: `i${i}`, data: {} }]));
    const reading = Array.from({ length: 20 }, () => ledger.depth());
    await Promise.all([...writing, ...reading, ledger.isDrained(), ledger.audit()]);
    expect((await ledger.depth()).total).toBe(20);
    await ledger.close();
  });

  it("keeps its log bounded", async () => {
    const ledger = await prepared();
    const worker = new LedgerWorker(ledger, "w");
    let largest = 0;
    for (let round = 0; round < 40; round += 1) {
      await ledger.add(
        Array.from({ length: 500 }, (_, i) => ({ id: `${round}-${i}`, data: { text: "x".repeat(100) } })),
      );
      const items = await worker.lease(500);
      await worker.start(items);
      await worker.settle(items, result({ label: "cat" }));
      largest = Math.max(largest, (await stat(`${path}-wal`)).size);
    }
    expect(largest).toBeLessThan(12 * 1024 * 1024);
    expect((await ledger.audit()).done).toBe(20_000);
    await ledger.close();
  });

  it("finds the next items through an index, however many are settled or waiting", async () => {
    const ledger = await prepared();
    await ledger.close();
    const db = new DatabaseSync(path);
    const plan = (text: string) =>
      db
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map((row) => row["detail"])
        .join("; ");
    for (const range of ["visible_at = 0", "visible_at BETWEEN 1 AND 5"]) {
      const found = plan(
        `SELECT seq FROM outlast_items WHERE state = 'pending' AND ${range} ORDER BY visible_at, seq LIMIT 10`,
      );
      expect(found).toContain("outlast_items_pending");
      expect(found).not.toMatch(/SCAN|TEMP B-TREE/);
    }
    expect(plan("SELECT 1 FROM outlast_items WHERE state = 'sent'")).toContain("outlast_items_sent");
    db.close();
  });
});

const canFill = needs(
  "mount",
  process.geteuid?.() === 0 && canMount(),
  "run the tests as root on Linux to fill a small disk",
);
describe.skipIf(!canFill)("a full disk", () => {
  it("stops with a clear error and loses nothing that was stored", async () => {
    const disk = join(folder.path, "disk");
    await mkdir(disk);
    mountTmpfs(disk, "1m");
    try {
      const { ledger } = await openQueueParts(`sqlite:${join(disk, "w.db")}`);
      await ledger.prepare();
      await publish(ledger, ["a", "b"]);
      const worker = new LedgerWorker(ledger, "w");
      const items = await worker.take();
      await worker.settle(items.slice(0, 1), result("kept"));
      const huge = result("x".repeat(2_000_000));
      await expect(worker.settle(items.slice(1), huge)).rejects.toMatchObject({ code: "OUTLAST_DISK_FULL" });
      expect(await worker.settleOne(items[1] ?? { id: "", generation: 0 }, result("small"))).toMatchObject({
        kind: "accepted",
      });
      await expect(ledger.audit()).resolves.toMatchObject({ done: 2, missing: [], duplicates: [] });
      await ledger.close();
    } finally {
      unmount(disk);
    }
  });
});
