import { createHash } from "node:crypto";
import type { MemoryStore } from "../../src/testing/index.ts";

/** Keys (below the run) of the stored chunks with this content. */
export function chunksOf(store: MemoryStore, text: string): string[] {
  const hash = createHash("sha256").update(text).digest("hex");
  return [...store.objects.keys()]
    .map((key) => key.slice(2))
    .filter((key) => key.startsWith(`chunks/${hash.slice(0, 2)}/${hash}.`));
}

/** Destroys every chunk with this content. */
export function destroyChunk(store: MemoryStore, text: string): void {
  const keys = chunksOf(store, text);
  if (keys.length === 0) throw new Error(`no chunk holds ${text}`);
  for (const key of keys) store.objects.delete(`r/${key}`);
}

/** Changes every chunk with this content, size unchanged, so that only reading it shows. */
export function corruptChunk(store: MemoryStore, text: string): void {
  const keys = chunksOf(store, text);
  if (keys.length === 0) throw new Error(`no chunk holds ${text}`);
  for (const key of keys) store.objects.set(`r/${key}`, Buffer.from("?".repeat(text.length)));
}
