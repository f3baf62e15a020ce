import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { describeTree } from "../../../test/conformance/file-tree.ts";
import { openStore } from "../../storage/index.ts";
import { hashHex } from "../hash.ts";
import type { Manifest } from "../manifest.ts";
import { createTransfer, type SendResult } from "./index.ts";

const isSoak = Boolean(process.env["OUTLAST_SOAK"]);
const prefix = "runs/a/";
let folder: string;
let source: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "outlast-hard-"));
  source = join(folder, "source");
  await mkdir(source);
});
// A hundred thousand files take their time on a busy machine.
afterEach(() => rm(folder, { recursive: true, force: true }), 120_000);
const transfer = createTransfer();
afterAll(() => transfer.close());

const openHere = () => openStore(join(folder, "store"), { access: "write" });

function manifestOf(sent: SendResult, others: Manifest["entries"] = []): Manifest {
  const { chunks, bytes } = sent;
  const entries = [...others, ...sent.entries];
  const numbers = { step: 1, shard: 0, of: 1, gang: 1, epoch: 1, shipment: 1, format: 1 } as const;
  return {
    ...numbers,
    run: "a",
    convention: "generic",
    path: "",
    hash: "blake3",
    chunks,
    entries,
    last: [],
    bytes,
    savedAt: "",
  };
}

async function ship(owner = "1-1"): Promise<Manifest> {
  const { files, others } = await describeTree(source);
  const store = await openHere();
  return manifestOf(await transfer.send({ store, prefix, hash: "blake3", owner, files, reusable: new Map() }), others);
}

describe("hard cases", () => {
  it("ships and restores very many small files", { timeout: 300_000 }, async () => {
    const count = 100_000;
    // Blocking calls: as promises, making and comparing the files would take longer than shipping them.
    for (let i = 0; i < count; i += 1) {
      const part = join(source, `d${i % 50}`);
      if (i < 50) mkdirSync(part);
      writeFileSync(join(part, `f${i}`), `content of ${i}`);
    }
    const manifest = await ship();
    expect(manifest.entries).toHaveLength(count + 50);
    expect(manifest.chunks.length).toBeLessThan(count / 500);
    const into = join(folder, "restored");
    await transfer.fetch({ store: await openHere(), prefix, manifest, into });
    let same = 0;
    for (let i = 0; i < count; i += 1) {
      if (readFileSync(join(into, `d${i % 50}`, `f${i}`), "utf8") === `content of ${i}`) same += 1;
    }
    expect(same).toBe(count);
  });

  it("ships a 3 GiB sparse file as little and restores it as a hole", { timeout: 300_000 }, async () => {
    const size = 3 * 1024 ** 3;
    const handle = await open(join(source, "sparse"), "w");
    await handle.truncate(size);
    await handle.write("middle", 1024 ** 3 + 5);
    await handle.write("end", size - 3);
    await handle.close();
    const store = await openHere();
    const { files } = await describeTree(source);
    const sent = await transfer.send({ store, prefix, hash: "blake3", owner: "1-1", files, reusable: new Map() });
    expect(sent.bytes).toBe(size);
    expect(sent.sentBytes).toBe(3 * 8 * 1024 * 1024);
    const into = join(folder, "restored");
    await transfer.fetch({ store, prefix, manifest: manifestOf(sent), into });
    const restored = await stat(join(into, "sparse"));
    expect(restored.size).toBe(size);
    expect(restored.blocks * 512).toBeLessThan(2 * 1024 * 1024);
    const back = await open(join(into, "sparse"), "r");
    const read = async (at: number, length: number) =>
      (await back.read(Buffer.alloc(length), 0, length, at)).buffer.toString("latin1");
    expect(await read(1024 ** 3 + 4, 8)).toBe("\0middle\0");
    expect(await read(size - 4, 4)).toBe("\0end");
    await back.close();
  });

  it("does not write through a link that is already in the way", async () => {
    await mkdir(join(source, "d"));
    await writeFile(join(source, "d", "x"), "mine");
    const manifest = await ship();
    const into = join(folder, "restored");
    const outside = join(folder, "outside");
    await mkdir(into);
    await mkdir(outside);
    await symlink(outside, join(into, "d"));
    const work = transfer.fetch({ store: await openHere(), prefix, manifest, into });
    await expect(work).rejects.toMatchObject({ code: "OUTLAST_FILE_FAILED" });
    expect(await readdir(outside)).toEqual([]);
  });

  it("writes nothing for a manifest that leads out of the directory", async () => {
    await writeFile(join(source, "x"), "x");
    const manifest = await ship();
    const [entry] = manifest.entries;
    if (!entry) throw new Error("no entry");
    const into = join(folder, "restored");
    const hostile = { ...manifest, entries: [entry, { ...entry, path: "../escaped" }] };
    const work = transfer.fetch({ store: await openHere(), prefix, manifest: hostile, into });
    await expect(work).rejects.toMatchObject({ code: "OUTLAST_MANIFEST_INVALID", exitCode: 76 });
    expect((await readdir(folder)).sort()).toEqual(["source", "store"]);
  });

  it("leaves only whole chunks when the sender is killed at any moment", { timeout: 300_000 }, async () => {
    for (let i = 0; i < 3; i += 1) {
      await writeFile(join(source, `m${i}`), Buffer.alloc(64 * 1024 * 1024, Math.random().toString()));
      const handle = await open(join(source, `m${i}`), "r+");
      for (let at = 0; at < 64; at += 8) await handle.write(Buffer.from(`${i}/${at}`), 0, undefined, at * 1024 * 1024);
      await handle.close();
    }
    const child = fileURLToPath(new URL("../../../test/conformance/killed-sender.ts", import.meta.url));
    let seen = 0;
    const rounds = isSoak ? 60 : 6;
    for (let round = 0; round < rounds; round += 1) {
      await killSender(child, [join(folder, "store"), source, `1-${round}`], 1 + (round % 12) * 5);
      const store = await openHere();
      for await (const { key } of store.list(`${prefix}chunks/`)) {
        const named = key.split("/").at(-1)?.split(".")[0];
        expect(hashHex("blake3", await store.get(key))).toBe(named);
        seen += 1;
      }
      await rm(join(folder, "store"), { recursive: true });
    }
    expect(seen).toBeGreaterThan(0);
  });

  it("keeps the main thread free", async () => {
    const big = Buffer.alloc(256 * 1024 * 1024, 7);
    // No two chunks alike, or all but one would be over at once.
    for (let at = 0; at < big.length; at += 1024 * 1024) big.writeUInt32LE(at, at);
    await writeFile(join(source, "big"), big);
    const before = performance.eventLoopUtilization();
    await ship();
    // Done on this thread it would be near 1; as a share of the time it also holds on a busy machine.
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
  });

  it("works at low priority when asked to", async () => {
    await writeFile(join(source, "x"), "x");
    const { files } = await describeTree(source);
    const store = await openHere();
    const request = {
      store,
      prefix,
      hash: "blake3" as const,
      owner: "1-1",
      files,
      reusable: new Map(),
      background: true,
    };
    expect((await transfer.send(request)).bytes).toBe(1);
    const threads = await readdir("/proc/self/task");
    const nice = await Promise.all(
      threads.map(async (id) => {
        const text = await readFile(`/proc/self/task/${id}/stat`, "utf8").catch(() => "");
        return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[16]);
      }),
    );
    expect(nice.filter((value) => value >= 10)).toHaveLength(2);
  });

  it("fails what a lost thread was doing, and works again", async () => {
    const { WorkerPool } = await import("./worker-pool.ts");
    const pool = new WorkerPool(1, false);
    const [lane] = pool.lanes({ kind: "folder", root: join(folder, "store") });
    lane?.begin(1, { hash: "blake3", prefix, owner: "", claims: undefined });
    const job = { kind: "verify", chunk: { key: "chunks/x", hash: "", size: 1 } } as const;
    const work = lane?.run(1, job);
    await Promise.all([expect(work).rejects.toMatchObject({ recovery: "retry" }), pool.close()]);
    const [next] = pool.lanes({ kind: "folder", root: join(folder, "store") });
    next?.begin(2, { hash: "blake3", prefix, owner: "", claims: undefined });
    expect(await next?.run(2, job)).toEqual({ fault: "missing" });
    await pool.close();
  });

  it("refuses work once closed", async () => {
    const closed = createTransfer();
    await closed.close();
    const work = closed.matches({
      manifest: manifestOf({ chunks: [], entries: [], bytes: 0, sentBytes: 0 }),
      local: new Map(),
    });
    await expect(work).rejects.toMatchObject({ code: "OUTLAST_USAGE" });
  });
});

/** Kills the sender once it has reported `reports` chunks, in the middle of storing others. */
async function killSender(file: string, args: readonly string[], reports: number): Promise<void> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let seen = 0;
  child.stdout.on("data", (data: Buffer) => {
    seen += data.length;
    if (seen >= reports) child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.on("close", resolve));
}
