import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTransfer, type Transfer } from "../../src/checkpoint/transfer/index.ts";
import { MemoryStore, type ObjectStore, openStore } from "../../src/storage/index.ts";
import { describeTree } from "../conformance/file-tree.ts";

const MiB = 1024 * 1024;
let folder: string;
let transfer: Transfer | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "outlast-rate-"));
  await mkdir(join(folder, "source"));
  await writeFile(join(folder, "source", "model"), randomBytes(32 * MiB));
});
afterEach(async () => {
  await transfer?.close();
  await rm(folder, { recursive: true, force: true });
});

const stores: readonly [string, () => Promise<ObjectStore>][] = [
  ["threads", () => openStore(join(folder, "store"), { access: "write" })],
  ["this thread", () => Promise.resolve(new MemoryStore())],
];

describe.each(stores)("a limit on uploads in %s", (_, open) => {
  async function send(maxRate: number, background: boolean, onProgress?: () => void): Promise<number> {
    transfer = createTransfer({ maxRate });
    const { files } = await describeTree(join(folder, "source"));
    const began = performance.now();
    const request = { store: await open(), prefix: "a/", hash: "blake3" as const, owner: "1-1", files };
    await transfer.send({ ...request, reusable: new Map(), background, onProgress });
    return performance.now() - began;
  }

  it("holds those beside a running program to the rate", async () => {
    // The first chunk goes at once, three more at 32 MiB a second.
    expect(await send(32 * MiB, true)).toBeGreaterThan(650);
  });

  it("does not hold back the others", async () => {
    await send(1024, false);
  });

  it("is lifted for what is under way when time counts", async () => {
    await send(1024, true, () => transfer?.hurry());
  });
});
