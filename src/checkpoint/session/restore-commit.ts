import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { formatBytes, isOutlastError, OutlastError } from "../../core/index.ts";
import type { Scan } from "../detect/index.ts";
import { scanDirectory } from "../detect/index.ts";
import type { OwnFolder } from "../local/own-folder.ts";
import { placeStage } from "../local/place.ts";
import type { CommitState, LogState } from "../log/state.ts";
import type { Manifest } from "../manifest.ts";
import { getManifest } from "../manifest-codec.ts";
import type { RunStore } from "../run-store.ts";
import type { Transfer, TransferProgress } from "../transfer/types.ts";

export interface RestoreContext {
  readonly run: RunStore;
  readonly transfer: Transfer;
  /** The checkpoint directory, absolute. */
  readonly dir: string;
  readonly own: OwnFolder;
  readonly shard: number;
  readonly of: number;
  /** Names what is moved out of the way. */
  readonly epoch: number;
  /** Called once the files are known to be whole, before the directory is touched: clears what must not be there beside them. */
  readonly clear: (path: string, isInPlace: boolean) => Promise<void>;
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined;
}

export interface Restored {
  readonly manifests: readonly Manifest[];
  readonly bytes: number;
  readonly fetchedBytes: number;
}

/**
 * Brings a commit's files into the checkpoint directory: fetched and verified in the stage, then moved into place. When the directory holds exactly
 * these files already, they are only read and compared. A shard takes its own part; when the number of shards has changed, each takes all.
 */
export async function restoreCommit(
  context: RestoreContext,
  commit: CommitState,
  state: LogState,
  signal?: AbortSignal,
): Promise<Restored> {
  const { run, transfer, dir, own, onProgress } = context;
  const refs =
    commit.manifests.length === context.of
      ? commit.manifests.filter((ref) => ref.shard === context.shard)
      : commit.manifests;
  const manifests: Manifest[] = [];
  for (const ref of refs) manifests.push(await getManifest(run, ref, state.hash, signal));
  const scan = await scanDirectory(dir, { isBucket: own.bucket !== undefined });
  const bytes = manifests.reduce((sum, manifest) => sum + manifest.bytes, 0);
  const path = manifests[0]?.path ?? "";
  if (await isInPlace(context, manifests, scan, signal)) {
    await context.clear(path, true);
    return { manifests, bytes, fetchedBytes: 0 };
  }
  await rm(own.stage, { recursive: true, force: true });
  await mkdir(own.stage, { mode: 0o700 });
  let fetchedBytes = 0;
  try {
    const there = new Set<string>();
    for (const manifest of manifests) {
      // What lies in a bucket has to be fetched as well: nothing is gained by reading it there.
      const local = own.bucket ? undefined : localFiles(manifest, scan);
      const result = await transfer.fetch({
        store: run.store,
        prefix: run.prefix,
        manifest,
        into: own.stage,
        local,
        skip: there,
        signal,
        onProgress,
      });
      fetchedBytes += result.fetchedBytes;
      for (const entry of manifest.entries) if (entry.type !== "directory") there.add(entry.path);
    }
    await context.clear(path, false);
    await placeStage(dir, own, `${context.epoch}-replaced-by-${commit.step}`, manifests);
  } catch (error) {
    if (own.bucket && isOutlastError(error, "OUTLAST_DISK_FULL")) throw stageFull(own.stage, bytes, error);
    throw error;
  } finally {
    await rm(own.stage, { recursive: true, force: true });
  }
  return { manifests, bytes, fetchedBytes };
}

function stageFull(stage: string, bytes: number, cause: unknown): OutlastError {
  const wanted = formatBytes(bytes);
  return new OutlastError("OUTLAST_DISK_FULL", `${stage} has no room for a checkpoint of ${wanted}`, {
    operation: "restore",
    target: stage,
    cause,
    hint: `a checkpoint is put together on a local disk before it goes to a mounted bucket: set TMPDIR to a folder with ${wanted} of room`,
  });
}

/** Whether the directory already holds these checkpoints, no file more and no file less, byte for byte. */
async function isInPlace(
  context: RestoreContext,
  manifests: readonly Manifest[],
  scan: Scan,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const known = new Set(manifests.flatMap((manifest) => manifest.entries.map((entry) => entry.path)));
  for (const manifest of manifests) {
    for (const entry of manifest.entries) {
      const seen = scan.entries.get(entry.path);
      if (seen?.type !== entry.type) return false;
      if (entry.type === "link" && seen.target !== entry.target) return false;
      if (entry.type === "file" && seen.size !== entry.size) return false;
    }
    const inside = manifest.path === "" ? "" : `${manifest.path}/`;
    for (const path of scan.entries.keys()) if (path.startsWith(inside) && !known.has(path)) return false;
  }
  for (const manifest of manifests) {
    const local = localFiles(manifest, scan);
    const matching = await context.transfer.matches({ manifest, local, signal, onProgress: context.onProgress });
    if (matching.size !== local.size) return false;
  }
  return true;
}

/** Files of the directory that may hold a manifest's content, by its paths. */
function localFiles(manifest: Manifest, scan: Scan): Map<string, string> {
  const local = new Map<string, string>();
  for (const entry of manifest.entries) {
    const seen = entry.type === "file" ? scan.entries.get(entry.path) : undefined;
    if (seen?.type === "file" && entry.type === "file" && seen.size === entry.size)
      local.set(entry.path, join(scan.root, entry.path));
  }
  return local;
}
