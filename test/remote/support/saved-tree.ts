import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Random } from "../../evictions/support/random.ts";

/** A checkpoint's files, by path inside it. */
export type Tree = ReadonlyMap<string, Buffer>;

const marker = "trainer_state.json";

/** Files whose bytes are the same in every save of a schedule; large ones become chunks of their own, which are reused. */
export function frozenFiles(random: Random, isLarge: boolean): Tree {
  const files = new Map([["frozen/vocabulary.bin", bytes(random, 300)]]);
  if (isLarge) files.set("frozen/embeddings.bin", Buffer.alloc((1 << 20) + 100, bytes(random, 64)));
  return files;
}

/** A new save: what never changes, and files drawn anew; no two saves are alike. */
export function drawTree(random: Random, step: number, frozen: Tree): Tree {
  return new Map([
    ...frozen,
    ["model.bin", bytes(random, Math.floor(random.between(1, 4000)))],
    ["optimizer.bin", bytes(random, Math.floor(random.between(1, 500)))],
    [marker, Buffer.from(JSON.stringify({ global_step: step, noise: random.next() }))],
  ]);
}

/** Writes it as a framework would, its marker last. */
export async function writeTree(folder: string, tree: Tree): Promise<void> {
  const paths = [...tree.keys()].toSorted((a, b) => Number(a === marker) - Number(b === marker));
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), tree.get(path) ?? "");
  }
}

/** Reads all files below a folder. */
export async function readTree(folder: string): Promise<Tree> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(files.map(async (path) => [path.slice(folder.length + 1), await readFile(path)] as const)),
  );
}

/** Names a folder by the paths and bytes below it, however large they are. */
export async function hashFolder(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of files.toSorted((a, b) => (a < b ? -1 : 1))) {
    hash.update(`${path.slice(folder.length)}\n`);
    for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(piece as Buffer);
  }
  return hash.digest("hex");
}

/** Names a tree by all its paths and bytes. */
export function hashTree(tree: Tree): string {
  const hash = createHash("sha256");
  for (const path of [...tree.keys()].toSorted((a, b) => (a < b ? -1 : 1))) {
    const content = tree.get(path) ?? Buffer.alloc(0);
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

function bytes(random: Random, length: number): Buffer {
  const drawn = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) drawn[at] = random.next() * 256;
  return drawn;
}
