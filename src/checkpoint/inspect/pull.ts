import { mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { OutlastError } from "../../core/index.ts";
import { findBucketMount } from "../../storage/index.ts";
import { getManifest } from "../manifest-codec.ts";
import { readNewest } from "../read-newest.ts";
import type { RunStore } from "../run-store.ts";
import type { Transfer, TransferProgress } from "../transfer/types.ts";
import { openLog } from "./open-log.ts";
import { removeStage, stageIn } from "./stage.ts";

export interface PullOptions {
  /** @default the newest good one */
  readonly step?: number | undefined;
  /** An empty or new directory. */
  readonly to: string;
  readonly transfer: Transfer;
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined;
  readonly onDamaged?: ((step: number, why: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Copies a checkpoint, all shards of it, out of the store into an empty directory, verified. */
export async function pullCheckpoint(
  run: RunStore,
  options: PullOptions,
): Promise<{ readonly step: number; readonly path: string; readonly bytes: number }> {
  const { transfer, signal } = options;
  const to = resolve(options.to);
  const { log } = await openLog(run, signal);
  if (await findBucketMount(to)) {
    throw new OutlastError("OUTLAST_USAGE", `${to} is on a mounted Cloud Storage bucket`, {
      target: to,
      hint: "give a directory on a disk to --to; what is there may be copied to the bucket afterwards",
    });
  }
  await mkdir(to, { recursive: true });
  if ((await readdir(to)).length > 0) {
    throw new OutlastError("OUTLAST_USAGE", `${to} is not empty`, {
      target: to,
      hint: "give a new or empty directory to --to",
    });
  }
  return readNewest(
    run,
    log,
    { step: options.step, onDamaged: (commit, error) => options.onDamaged?.(commit.step, error.message) },
    async (commit, state) => {
      const stage = await stageIn(to);
      try {
        const there = new Set<string>();
        let bytes = 0;
        let path = "";
        for (const ref of commit.manifests) {
          const manifest = await getManifest(run, ref, state.hash, signal);
          const request = {
            store: run.store,
            prefix: run.prefix,
            manifest,
            into: stage,
            skip: there,
            signal,
            onProgress: options.onProgress,
          };
          bytes += (await transfer.fetch(request)).bytes;
          for (const entry of manifest.entries) if (entry.type !== "directory") there.add(entry.path);
          path = manifest.path;
        }
        await removeStage(stage, to, true);
        return { step: commit.step, path: join(to, path), bytes };
      } catch (error) {
        await removeStage(stage, to, false);
        throw error;
      }
    },
    signal,
  );
}
