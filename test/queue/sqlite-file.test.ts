import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBroker } from "../../src/queue/index.ts";
import { openLedger } from "../../src/results/index.ts";
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

describe("where a file may be", () => {
  it.each(["nfs4", "cifs", "fuse.gcsfuse", "fuse", "fuseblk", "9p", "lustre", "virtiofs"])(
    "is refused on %s",
    async (type) => {
      const mountinfo = join(folder.path, "mountinfo");
      await writeFile(
        mountinfo,
        `1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / ${folder.path} rw - ${type} server:/x rw\n`,
      );
      const ledger = await openLedger(`sqlite:${path}`, { mountinfo });
      await expect(ledger.prepare()).rejects.toMatchObject({
        code: "OUTLAST_DATABASE_UNSUITABLE",
        message: expect.stringContaining(type),
        hint: expect.stringContaining("postgres://"),
      });
      expect(existsSync(path)).toBe(false);
      const broker = await openBroker(`sqlite:${path}`, { mountinfo });
      await expect(broker.prepare()).rejects.toMatchObject({ code: "OUTLAST_DATABASE_UNSUITABLE" });
    },
  );

  it.each(["ext4", "overlay", "tmpfs", "xfs", "btrfs"])("is allowed on %s", async (type) => {
    const mountinfo = join(folder.path, "mountinfo");
    await writeFile(mountinfo, `1 0 8:1 / / rw - nfs server:/ rw\n2 1 0:9 / ${folder.path} rw - ${type} disk rw\n`);
    const ledger = await openLedger(`sqlite:${path}`, { mountinfo });
    await ledger.prepare();
    await ledger.close();
  });

  it("needs a directory that is there, and a file that is one", async () => {
    const lost = await openLedger(`sqlite:${join(folder.path, "nowhere", "w.db")}`);
    await expect(lost.prepare()).rejects.toMatchObject({ message: expect.stringContaining("does not exist") });
    await mkdir(path);
    const odd = await openLedger(`sqlite:${path}`);
    await expect(odd.prepare()).rejects.toMatchObject({ message: expect.stringContaining("not a file") });
  });
});

describe("what a file may hold", () => {
  it("is not made by looking", async () => {
    const ledger = await openLedger(`sqlite:${path}`);
    await expect(ledger.depth()).rejects.toMatchObject({ code: "OUTLAST_DATABASE_UNSUITABLE" });
    expect((await ledger.plan()).join("\n")).toContain("CREATE TABLE outlast_items");
    expect(existsSync(path)).toBe(false);
    await ledger.close();
  });

  it("may be a database of the user's own, which keeps its tables", async () => {
    sql("CREATE TABLE mine (a); INSERT INTO mine VALUES (7)");
    const ledger = await openLedger(`sqlite:${path}`);
    await expect(ledger.depth()).rejects.toMatchObject({ message: expect.stringContaining("holds no items") });
    await ledger.prepare();
    await ledger.close();
    const db = new DatabaseSync(path);
    expect(db.prepare("SELECT a FROM mine").get()).toEqual({ a: 7 });
    db.close();
  });

  it("is refused when it is no database, and left as it was", async () => {
    const text = "images.csv\n".repeat(500);
    await writeFile(path, text);
    const ledger = await openLedger(`sqlite:${path}`);
    await expect(ledger.prepare()).rejects.toMatchObject({
      code: "OUTLAST_DATABASE_UNSUITABLE",
      message: expect.stringContaining("not an SQLite database"),
    });
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("is refused when a newer outlast made it", async () => {
    await (await prepared()).close();
    sql("UPDATE outlast_meta SET version = 99");
    const ledger = await openLedger(`sqlite:${path}`);
    for (const call of [() => ledger.prepare(), () => ledger.depth()]) {
      await expect(call()).rejects.toMatchObject({
        code: "OUTLAST_DATABASE_UNSUITABLE",
        message: expect.stringContaining("newer outlast"),
      });
    }
  });

  it("says that it is damaged", async () => {
    const ledger = await prepared();
    await ledger.add(Array.from({ length: 500 }, (_, i) => ({ id: `i${i}`, data: { text: "x".repeat(200) } })));
    await ledger.close();
    await truncate(path, 16_384);
    const again = await openLedger(`sqlite:${path}`);
    await expect(again.audit()).rejects.toMatchObject({
      code: "OUTLAST_DATABASE_FAILED",
      message: expect.stringContaining("damaged"),
    });
    await again.close();
  });

  it("says that it may not be written", async () => {
    await (await prepared()).close();
    await chmod(path, 0o444);
    await chmod(folder.path, 0o555);
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      const ledger = await openLedger(`sqlite:${path}`);
      await expect(ledger.openPublication("p")).rejects.toMatchObject({ code: "OUTLAST_DATABASE_NOT_WRITABLE" });
      await ledger.close();
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(folder.path, 0o755);
    }
  });
});
