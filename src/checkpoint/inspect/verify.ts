import { OutlastError } from "../../core/index.ts";
import { type CommitState, commitAt, type LogState } from "../log/state.ts";
import { getManifest } from "../manifest-codec.ts";
import { isDamage } from "../read-newest.ts";
import type { RunStore } from "../run-store.ts";
import type { Transfer, TransferProgress } from "../transfer/types.ts";
import { openLog } from "./open-log.ts";

/** Something of a checkpoint that is not as it was committed. */
export interface Fault {
  readonly key: string;
  readonly fault: string;
}

export interface VerifiedCheckpoint {
  readonly step: number;
  readonly position: number;
  readonly bytes: number;
  readonly ok: boolean;
  readonly faults: readonly Fault[];
}

export interface VerifyOptions {
  /** Only checkpoints of this step. */
  readonly step?: number | undefined;
  readonly transfer: Transfer;
  readonly onProgress?: ((progress: TransferProgress & { readonly step: number }) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads every byte of a run's checkpoints and compares it with what was committed. Writes nothing. */
export async function verifyCheckpoints(
  run: RunStore,
  options: VerifyOptions,
): Promise<{ readonly checked: readonly VerifiedCheckpoint[]; readonly ok: boolean }> {
  const { log, head } = await openLog(run, options.signal);
  const wanted = head.state.commits
    .filter((commit) => options.step === undefined || commit.step === options.step)
    .toReversed();
  if (options.step !== undefined && wanted.length === 0) {
    throw new OutlastError("OUTLAST_CHECKPOINT_UNKNOWN", `run ${run.run} has no checkpoint of step ${options.step}`, {
      hint: `it has steps ${head.state.commits.map((commit) => commit.step).join(", ") || "none"}`,
    });
  }
  const checked: VerifiedCheckpoint[] = [];
  for (const commit of wanted) {
    const faults = await verifyCommit(run, commit, head.state, options);
    // What was dropped while it was being read is no damage.
    if (faults.length > 0 && !commitAt((await log.head(options.signal))?.state ?? head.state, commit.at)) continue;
    checked.push({ step: commit.step, position: commit.at, bytes: commit.bytes, ok: faults.length === 0, faults });
  }
  return { checked, ok: checked.every((checkpoint) => checkpoint.ok) };
}

async function verifyCommit(
  run: RunStore,
  commit: CommitState,
  state: LogState,
  options: VerifyOptions,
): Promise<readonly Fault[]> {
  const { transfer, signal } = options;
  const faults: Fault[] = [];
  for (const ref of commit.manifests) {
    try {
      const manifest = await getManifest(run, ref, state.hash, signal);
      const onProgress = (progress: TransferProgress) => options.onProgress?.({ ...progress, step: commit.step });
      faults.push(...(await transfer.verify({ store: run.store, prefix: run.prefix, manifest, signal, onProgress })));
    } catch (error) {
      if (!isDamage(error)) throw error;
      faults.push({ key: ref.key, fault: error.code === "OUTLAST_OBJECT_NOT_FOUND" ? "missing" : error.message });
    }
  }
  return faults;
}
