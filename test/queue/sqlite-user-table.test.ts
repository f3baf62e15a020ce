import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLedger } from "../../src/results/index.ts";
import { LedgerWorker, publish, result, resultsOf } from "./ledger-world.ts";
import { temporaryFolder } from "./sqlite-world.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder.path, "work.db");
});
afterEach(() => folder.dispose());

/** Runs SQL behind the ledger's back. */
function sql(text: string): void {
  const db = new DatabaseSync(path);
  db.exec(text);
  db.close();
}

async function prepared() {
  const ledger = await openLedger(`sqlite:${path}`);
  await ledger.prepare();
  return ledger;
}

describe("the user's table in SQLite", () => {
  const cases: [string, string, string, string][] = [
    ["no unique id", "CREATE TABLE t (id TEXT, result)", "table=t", "does not keep id unique"],
    [
      "an id unique in part of the table",
      "CREATE TABLE t (id TEXT, result); CREATE UNIQUE INDEX u ON t (id) WHERE result > 0",
      "table=t",
      "unique",
    ],
    [
      "an id unique beside another column",
      "CREATE TABLE t (id TEXT, result, PRIMARY KEY (id, result))",
      "table=t",
      "unique",
    ],
    ["an id that ignores case", "CREATE TABLE t (id TEXT COLLATE NOCASE PRIMARY KEY, result)", "table=t", "unique"],
    ["a number for an id", "CREATE TABLE t (id INTEGER PRIMARY KEY, result)", "table=t", "type INTEGER"],
    [
      "no such column",
      "CREATE TABLE t (id TEXT PRIMARY KEY, result)",
      "table=t&columns=label,score",
      "no column label, score",
    ],
    ["a generated column", "CREATE TABLE t (id TEXT PRIMARY KEY, n, result AS (n + 1))", "table=t", "no column result"],
    [
      "a column nobody fills",
      "CREATE TABLE t (id TEXT PRIMARY KEY, result, tenant TEXT NOT NULL)",
      "table=t",
      "needs a value for tenant",
    ],
    ["a view", "CREATE TABLE u (id TEXT PRIMARY KEY, result); CREATE VIEW t AS SELECT * FROM u", "table=t", "unique"],
  ];
  it.each(cases)("is refused with %s", async (_, make, query, message) => {
    sql(make);
    const ledger = await openLedger(`sqlite:${path}?${query}`);
    await expect(ledger.prepare()).rejects.toMatchObject({
      code: "OUTLAST_TABLE_UNSUITABLE",
      message: expect.stringContaining(message),
    });
    await ledger.close();
  });

  it("may have more columns, and a time that is filled", async () => {
    sql(
      "CREATE TABLE t (ID TEXT UNIQUE, Label TEXT CHECK (Label <> 'bad'), score REAL, tenant TEXT NOT NULL DEFAULT 'x', settled_at)",
    );
    const ledger = await openLedger(`sqlite:${path}?table=t&id=id&columns=label,score`);
    await ledger.prepare();
    await publish(ledger, ["a", "b"]);
    const worker = new LedgerWorker(ledger, "w");
    await worker.take();
    await worker.settle([{ id: "a", generation: 0 }], result({ label: "cat", score: true }));
    // The table's own rule refuses this one; the item is dead and says why, the others go on.
    expect(await worker.settleOne({ id: "b", generation: 0 }, result({ label: "bad" }))).toMatchObject({
      isDead: true,
    });
    expect((await ledger.dead(undefined, 9))[0]?.error).toMatch(/cannot be stored: .*CHECK/);
    await ledger.close();
    const db = new DatabaseSync(path);
    const [row, ...others] = db.prepare("SELECT * FROM t").all();
    db.close();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ ID: "a", Label: "cat", score: 1, tenant: "x" });
    expect(row?.["settled_at"]).toMatch(/^20\d\d-.*Z$/);
  });

  it("is not believed when it drops a row without a word", async () => {
    sql(`CREATE TABLE t (id TEXT PRIMARY KEY, result TEXT);
      CREATE TRIGGER quiet BEFORE INSERT ON t WHEN NEW.id = 'a' BEGIN SELECT RAISE(IGNORE); END`);
    const ledger = await openLedger(`sqlite:${path}?table=t`);
    await ledger.prepare();
    await publish(ledger, ["a", "b"]);
    const worker = new LedgerWorker(ledger, "w");
    expect(await worker.settle(await worker.take(), result(1))).toMatchObject([{ isDead: true }, { kind: "accepted" }]);
    expect(await ledger.audit()).toMatchObject({ done: 1, dead: 1, missing: [] });
    await ledger.close();
  });

  it("may roll a chunk back as a whole, and nothing of it is there", async () => {
    sql(`CREATE TABLE t (id TEXT PRIMARY KEY, result TEXT);
      CREATE TRIGGER harsh BEFORE INSERT ON t WHEN NEW.id = 'b' BEGIN SELECT RAISE(ROLLBACK, 'no b here'); END`);
    const ledger = await openLedger(`sqlite:${path}?table=t`);
    await ledger.prepare();
    await publish(ledger, ["a", "b"]);
    const worker = new LedgerWorker(ledger, "w");
    await expect(worker.settle(await worker.take(), result(1))).rejects.toMatchObject({
      code: "OUTLAST_DATABASE_FAILED",
      message: expect.stringContaining("no b here"),
    });
    expect(await ledger.depth()).toMatchObject({ done: 0, dead: 0, leased: 2 });
    expect(await resultsOf(ledger)).toEqual({});
    await ledger.close();
  });

  it("has duplicates found by the audit, should there ever be any", async () => {
    const ledger = await prepared();
    await publish(ledger, ["a", "b"]);
    const worker = new LedgerWorker(ledger, "w");
    await worker.settle(await worker.take(), result(1));
    await ledger.close();
    sql("UPDATE outlast_items SET accepted = 2 WHERE id = 'b'");
    expect(await ledger.audit()).toMatchObject({ duplicates: ["b"], missing: [] });
    await ledger.close();
  });
});

describe("a table that is not there", () => {
  it("stops neither counting nor looking, and says what to do where it is needed", async () => {
    const ledger = await prepared();
    await publish(ledger, ["a"]);
    await ledger.close();
    const other = await openLedger(`sqlite:${path}?table=labels`);
    expect((await other.depth()).ready).toBe(1);
    await expect(other.audit()).rejects.toMatchObject({
      code: "OUTLAST_TABLE_UNSUITABLE",
      message: expect.stringContaining("no table labels"),
      hint: expect.stringContaining("?table="),
    });
    await other.prepare();
    expect(await other.audit()).toMatchObject({ published: 1, missing: ["a"] });
    await other.close();
  });
});
