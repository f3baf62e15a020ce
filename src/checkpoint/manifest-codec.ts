import { OutlastError } from "../core/index.ts";
import { hashHex } from "./hash.ts";
import type { ManifestRef } from "./log/state.ts";
import type { Manifest, ManifestEntry } from "./manifest.ts";
import { faultOfLinks } from "./manifest-links.ts";
import type { RunStore } from "./run-store.ts";
import { seal, unseal } from "./sealed-json.ts";

/** Key of a shard manifest below the run. The id names the past it belongs to, so that two pasts never meet in one commit. */
export function manifestKey(manifest: Manifest): string {
  const { step, shard, of, gang, epoch, shipment } = manifest;
  return `steps/${step}/${shard}-of-${of}.${gang}-${epoch}-${shipment}.json`;
}

/** What a manifest's key says; undefined for a foreign object. */
export function parseManifestKey(
  key: string,
): Pick<Manifest, "step" | "shard" | "of" | "gang" | "epoch" | "shipment"> | undefined {
  const match = /^steps\/(\d+)\/(\d+)-of-(\d+)\.(\d+)-(\d+)-(\d+)\.json$/.exec(key);
  if (!match) return undefined;
  const [step = 0, shard = 0, of = 0, gang = 0, epoch = 0, shipment = 0] = match.slice(1).map(Number);
  return { step, shard, of, gang, epoch, shipment };
}

/** Stores a manifest; everything it names must be durable already. */
export async function putManifest(run: RunStore, manifest: Manifest, signal?: AbortSignal): Promise<ManifestRef> {
  const key = manifestKey(manifest);
  // What no restore would accept must not become a commit.
  checkContent(manifest, run, key);
  const bytes = seal(manifest);
  await run.put(key, bytes, { signal });
  return { shard: manifest.shard, key, hash: hashHex(manifest.hash, bytes) };
}

/** Reads and checks a manifest that a commit names. */
export async function getManifest(
  run: RunStore,
  ref: ManifestRef,
  hash: Manifest["hash"],
  signal?: AbortSignal,
): Promise<Manifest> {
  const bytes = await run.get(ref.key, { signal });
  if (hashHex(hash, bytes) !== ref.hash) throw damaged(run, ref.key, "does not match the hash in the log");
  return decodeManifest(bytes, run, ref.key);
}

/** Reads a manifest that no commit names yet, as another shard stored it. */
export async function getLooseManifest(
  run: RunStore,
  key: string,
  hash: Manifest["hash"],
  signal?: AbortSignal,
): Promise<{ manifest: Manifest; ref: ManifestRef }> {
  const bytes = await run.get(key, { signal });
  const manifest = decodeManifest(bytes, run, key);
  return { manifest, ref: { shard: manifest.shard, key, hash: hashHex(hash, bytes) } };
}

function decodeManifest(bytes: Uint8Array, run: RunStore, key: string): Manifest {
  const opened = unseal(bytes);
  if ("fault" in opened) throw damaged(run, key, opened.fault);
  const manifest = opened.content as Manifest;
  if (manifest?.format !== 1)
    throw invalid(run, key, `has format ${String(manifest?.format)}; this version of outlast reads format 1`);
  checkContent(manifest, run, key);
  return manifest;
}

/** Refuses content that could harm what it is restored into or what else is stored, whoever wrote it. */
function checkContent(manifest: Manifest, run: RunStore, key: string): void {
  const { chunks, entries, last } = manifest;
  if (!Array.isArray(chunks) || !Array.isArray(entries) || !Array.isArray(last))
    throw invalid(run, key, "is no manifest");
  if (manifestKey(manifest) !== key) throw invalid(run, key, "names another step, shard or past than its key");
  for (const chunk of manifest.chunks) {
    // Retention deletes by these keys: they must never be able to name anything but a chunk.
    const match = /^chunks\/[0-9a-f]{2}\/([0-9a-f]{64})\.\d+-\d+$/.exec(String(chunk?.key));
    if (match?.[1] === undefined || match[1] !== chunk.hash || !isCount(chunk.size))
      throw invalid(run, key, `names ${JSON.stringify(chunk?.key)}, which is no chunk`);
  }
  for (const entry of manifest.entries) {
    const fault = faultOfPath(entry?.path) ?? faultOfPieces(manifest, entry);
    if (fault) throw invalid(run, key, `names ${JSON.stringify(entry?.path)}, ${fault}`);
  }
  const paths = new Set(manifest.entries.map((entry) => entry.path));
  if (paths.size !== manifest.entries.length) throw invalid(run, key, "names a path twice");
  const fault = faultOfLinks(manifest.entries);
  if (fault) throw invalid(run, key, fault);
  for (const path of manifest.last)
    if (!paths.has(path)) throw invalid(run, key, `puts ${JSON.stringify(path)} last but does not hold it`);
  if (manifest.path !== "" && faultOfPath(manifest.path))
    throw invalid(run, key, `names ${JSON.stringify(manifest.path)} as the checkpoint`);
}

/** What is wrong with a path from a manifest; undefined for one that stays inside the directory. */
export function faultOfPath(path: string): string | undefined {
  if (typeof path !== "string" || path === "") return "which is no path";
  if (path.includes("\0")) return "which holds a NUL";
  if (path.startsWith("/")) return "which is an absolute path";
  const segments = path.split("/");
  if (segments.includes("..")) return "which leads out of the directory";
  if (segments.includes("") || segments.includes(".")) return "which is not a plain path";
  if (segments[0] === ".outlast") return "which is outlast's own folder";
  return undefined;
}

function faultOfPieces(manifest: Manifest, entry: ManifestEntry): string | undefined {
  if (entry.type !== "file") return undefined;
  if (!Array.isArray(entry.pieces)) return "which has no pieces";
  let size = 0;
  for (const [index, offset, length] of entry.pieces) {
    const chunk = manifest.chunks[index];
    if (!chunk || !isCount(offset) || !isCount(length) || offset + length > chunk.size)
      return "whose pieces are not in its chunks";
    size += length;
  }
  return size === entry.size ? undefined : `whose pieces make ${size} bytes, not ${entry.size}`;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function damaged(run: RunStore, key: string, what: string): OutlastError {
  return new OutlastError("OUTLAST_CHECKPOINT_DAMAGED", `manifest ${run.prefix}${key} ${what}`, {
    operation: "read",
    target: key,
  });
}

function invalid(run: RunStore, key: string, what: string): OutlastError {
  return new OutlastError("OUTLAST_MANIFEST_INVALID", `manifest ${run.prefix}${key} ${what}`, {
    operation: "read",
    target: key,
    hint: "it was not written by outlast, or by a newer version; nothing of it was restored",
  });
}
