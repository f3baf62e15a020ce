import { OutlastError } from "../../core/index.ts";
import { isKey } from "../../storage/index.ts";
import type { Manifest, ManifestEntry } from "../manifest.ts";
import { isCanonicalPath } from "../path-bytes.ts";
import { largestChunkBytes } from "./limits.ts";

/**
 * Refuses a manifest that would write outside its directory, write a file twice, or whose pieces do not add up. Nothing is
 * written before this has passed, whoever wrote the manifest.
 */
export function checkManifest(manifest: Pick<Manifest, "chunks" | "entries">, prefix: string): void {
  for (const chunk of manifest.chunks) {
    if (!isKey(prefix + chunk.key)) throw invalid(chunk.key, "it is not the key of an object");
    if (!isSize(chunk.size) || chunk.size > largestChunkBytes) throw invalid(chunk.key, `its size is ${chunk.size}`);
    if (!/^[0-9a-f]{64}$/.test(chunk.hash)) throw invalid(chunk.key, "its hash is malformed");
  }
  const types = new Map<string, ManifestEntry["type"]>();
  for (const entry of manifest.entries) {
    checkPath(entry.path);
    if (types.has(entry.path)) throw invalid(entry.path, "it is named twice");
    types.set(entry.path, entry.type);
  }
  for (const entry of manifest.entries) {
    for (const parent of parentsOf(entry.path)) {
      const type = types.get(parent);
      if (type !== undefined && type !== "directory") throw invalid(entry.path, `it lies below the ${type} ${parent}`);
    }
    if (entry.type === "link") checkTarget(entry.path, entry.target);
    if (entry.type === "file") checkPieces(entry, manifest.chunks);
  }
}

/** The folders a path lies in, outermost first. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) parents.push(path.slice(0, at));
  return parents;
}

function checkPath(path: string): void {
  const isPlain = path.split("/").every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\0"));
  if (!isPlain) throw invalid(path, "it leads out of the checkpoint directory or is not a path");
  if (!isCanonicalPath(path)) throw invalid(path, "it is not a canonical spelling of its bytes");
}

/** A link may go up as far as the checkpoint directory and no further. */
function checkTarget(path: string, target: string): void {
  if (target === "" || target.startsWith("/") || target.includes("\0") || !isCanonicalPath(target)) {
    throw invalid(path, `it links to ${JSON.stringify(target)}, which is not a relative path`);
  }
  let depth = parentsOf(path).length;
  for (const name of target.split("/")) {
    if (name === "..") depth -= 1;
    else if (name !== "" && name !== ".") depth += 1;
    if (depth < 0) throw invalid(path, `it links to ${JSON.stringify(target)}, outside the checkpoint directory`);
  }
}

function checkPieces(entry: Extract<ManifestEntry, { type: "file" }>, chunks: Manifest["chunks"]): void {
  if (!isSize(entry.size)) throw invalid(entry.path, `its size is ${entry.size}`);
  let size = 0;
  for (const [number, offset, length] of entry.pieces) {
    const chunk = chunks[number];
    if (!chunk || !isSize(offset) || !isSize(length) || length === 0 || offset + length > chunk.size) {
      throw invalid(entry.path, `its piece [${number}, ${offset}, ${length}] is in no chunk`);
    }
    size += length;
  }
  if (size !== entry.size) throw invalid(entry.path, `its pieces are ${size} bytes but it has ${entry.size}`);
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function invalid(target: string, what: string): OutlastError {
  return new OutlastError("OUTLAST_MANIFEST_INVALID", `the manifest is invalid at ${JSON.stringify(target)}: ${what}`, {
    operation: "fetch",
    target,
    recovery: "reset",
    hint: "nothing was written; the manifest is damaged or was not written by outlast",
  });
}
