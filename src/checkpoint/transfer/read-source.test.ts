import fs from "node:fs";
import { link, mkdtemp, rename, rm, stat, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../storage/index.ts";
import { createTransfer, type SourceFile } from "./index.ts";
import { readSource } from "./read-source.ts";

let folder: string;
let source: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "outlast-source-"));
  source = join(folder, "model.bin");
  await writeFile(source, Buffer.alloc(2_000_000, 1));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const transfer = createTransfer({ workers: 1 });
afterAll(() => transfer.close());

async function describeFile(path: string): Promise<SourceFile> {
  const { size, mode, mtimeMs, ino, ctimeMs, nlink } = await stat(path);
  return { path: "model.bin", source: path, size, mode, mtimeMs, guard: { ino, mtimeMs, ctimeMs, nlink } };
}

async function send(file: SourceFile) {
  const store = await openStore(join(folder, "store"), { access: "write" });
  return transfer.send({ store, prefix: "a/", hash: "blake3", owner: "1-1", files: [file], reusable: new Map() });
}

describe("a source file that is not what was found complete", () => {
  const changes: [string, () => Promise<unknown>][] = [
    ["was written to in place", () => writeFile(source, Buffer.alloc(2_000_000, 2))],
    ["grew", () => writeFile(source, "x", { flag: "a" })],
    ["shrank", () => truncate(source, 100)],
    ["vanished", () => unlink(source)],
    [
      "was replaced",
      async () => {
        await writeFile(`${source}.new`, Buffer.alloc(2_000_000, 1));
        await rename(`${source}.new`, source);
      },
    ],
    [
      "was written to and given its old time back",
      async () => {
        const { atime, mtime } = await stat(source);
        await writeFile(source, Buffer.alloc(2_000_000, 2));
        await utimes(source, atime, mtime);
      },
    ],
  ];
  it.each(changes)("is refused when it %s", async (_, change) => {
    await utimes(source, 1_700_000_000, 1_700_000_000);
    const file = await describeFile(source);
    await change();
    await expect(send(file)).rejects.toMatchObject({
      code: "OUTLAST_SOURCE_CHANGED",
      recovery: "reset",
      target: "model.bin",
      hint: expect.any(String) as string,
    });
  });

  it("is refused when it changes during the read", async () => {
    const { source: path, size, guard } = await describeFile(source);
    const part = { path: "model.bin", source: path, guard, fileSize: size, offset: 0, length: size };
    // The writer strikes between the first stat and the second.
    const readSync = fs.readSync;
    fs.readSync = ((...args: Parameters<typeof fs.readSync>) => {
      fs.writeFileSync(source, Buffer.alloc(size, 3));
      return readSync(...args);
    }) as typeof fs.readSync;
    syncBuiltinESMExports();
    try {
      expect(() => readSource(part, new Uint8Array(size))).toThrow(
        expect.objectContaining({ code: "OUTLAST_SOURCE_CHANGED" }),
      );
    } finally {
      fs.readSync = readSync;
      syncBuiltinESMExports();
    }
  });
});

describe("a source file whose content is untouched", () => {
  it("may lose its other name: the trainer rotated it out while its snapshot is being read", async () => {
    const snapshot = join(folder, "snapshot");
    await link(source, snapshot);
    const file = await describeFile(snapshot);
    await unlink(source);
    expect((await stat(snapshot)).ctimeMs).not.toBe(file.guard?.ctimeMs);
    expect((await send(file)).bytes).toBe(2_000_000);
  });

  it("may have gained a name when no ctime is asked for", async () => {
    const { guard, ...file } = await describeFile(source);
    if (!guard) throw new Error("no guard");
    await link(source, join(folder, "snapshot"));
    await expect(send({ ...file, guard })).rejects.toMatchObject({ code: "OUTLAST_SOURCE_CHANGED" });
    expect((await send({ ...file, guard: { ino: guard.ino, mtimeMs: guard.mtimeMs } })).bytes).toBe(2_000_000);
  });
});
