import { readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../../src/checkpoint/manifest.ts";
import { loadBuild } from "../build.ts";
import { measure } from "./measure.ts";

// Ships a folder into a directory store: open, read, cut, hash, store, fsync, put the manifest. Prints one JSON line.
const input = JSON.parse(process.argv[2] ?? "{}") as {
  build: string;
  source: string;
  store: string;
  owner: string;
  /** Manifest of an earlier shipment whose chunks may be reused. */
  base?: string;
};
const { createTransfer, openStore, preferredHash } = await loadBuild(input.build);
const prefix = "bench/";
const files = readdirSync(input.source).map((name) => {
  const source = join(input.source, name);
  const { size, mode, ino, mtimeMs, ctimeMs, nlink } = statSync(source);
  return { path: name, source, size, mode: mode & 0o777, mtimeMs, guard: { ino, mtimeMs, ctimeMs, nlink } };
});
const base = input.base ? (JSON.parse(await readFile(input.base, "utf8")) as Manifest) : undefined;
const reusable = new Map(base?.chunks.map((chunk) => [chunk.hash, { ...chunk, from: 1 }]));
const measured = await measure(async () => {
  const store = await openStore(input.store, { access: "write" });
  const transfer = createTransfer();
  const sent = await transfer.send({ store, prefix, hash: preferredHash(), owner: input.owner, files, reusable });
  const manifest: Manifest = {
    format: 1,
    run: "bench",
    step: 1,
    shard: 0,
    of: 1,
    gang: 1,
    epoch: 1,
    shipment: 1,
    convention: "generic",
    path: "",
    hash: preferredHash(),
    chunks: sent.chunks,
    entries: sent.entries,
    last: [],
    bytes: sent.bytes,
    savedAt: "",
  };
  await store.putIfAbsent(`${prefix}steps/1/${input.owner}.json`, Buffer.from(JSON.stringify(manifest)));
  return { transfer, sentBytes: sent.sentBytes, bytes: sent.bytes };
});
await measured.value.transfer.close();
const { sentBytes, bytes } = measured.value;
process.stdout.write(`${JSON.stringify({ ...measured, value: undefined, sentBytes, bytes })}\n`);
