import { type Clock, OutlastError, systemClock } from "../../core/index.ts";
import { type CopyContext, copyCommit, copyPin } from "../copy/copy-commit.ts";
import { takeCopyTenure } from "../copy/copy-tenure.ts";
import { finishCopy } from "../copy/finish-copy.ts";
import { formerCopies } from "../copy/former-copies.ts";
import { planCopy } from "../copy/plan-copy.ts";
import { RunLog } from "../log/run-log.ts";
import { isFinished } from "../log/state.ts";
import { collectLeftovers } from "../retention/collect.ts";
import type { RunStore } from "../run-store.ts";
import { ReuseBook } from "../ship/reuse-book.ts";
import type { Tenure } from "../tenure.ts";
import type { TransferProgress } from "../transfer/types.ts";
import { type CheckpointInfo, infoOf } from "./list.ts";
import { openLog } from "./open-log.ts";

export interface CopyOptions {
  /** Only the checkpoint of this step. @default all good ones */
  readonly step?: number | undefined;
  /** Say what would be copied, and write nothing. @default false */
  readonly dryRun?: boolean | undefined;
  readonly clock?: Clock;
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A checkpoint that was not copied. */
export interface LeftOut {
  readonly step: number;
  readonly reason: "older than what the copy holds" | "dropped meanwhile" | "damaged";
  /** What is missing or wrong in the source. */
  readonly why?: string;
}

/** What a copy did, or would do. Checkpoints are named as they are in the source, oldest first. */
export interface CopyReport {
  readonly copied: readonly CheckpointInfo[];
  /** In the target before. */
  readonly there: readonly CheckpointInfo[];
  readonly leftOut: readonly LeftOut[];
  readonly sentBytes: number;
  /** Whether the target now counts as finished, as the source does. */
  readonly finished: boolean;
}

/**
 * Copies a run's good checkpoints into another store or under another name, verified on the way.
 *
 * The target's log is written by the rules of any start: an epoch first, then, oldest first, chunks, manifests and a commit for each checkpoint. Dying after any
 * byte leaves a target whose commits are whole; calling again goes on behind the last commit. The source is only read.
 */
export async function copyCheckpoints(
  source: RunStore,
  target: RunStore,
  options: CopyOptions = {},
): Promise<CopyReport> {
  const { signal, step, clock = systemClock } = options;
  if (source.run === target.run && source.store.url === target.store.url) {
    throw new OutlastError("OUTLAST_USAGE", `run ${source.run} cannot be copied onto itself`, {
      hint: "give another store with --to-store, or another name with --to-run",
    });
  }
  const { log: sourceLog, head: from } = await openLog(source, signal);
  const log = new RunLog(target, { clock });
  const before = await log.head(signal);
  const held = await formerCopies(source, target, before, from.state.hash, signal);
  const plan = planCopy(source.run, from.state, held, step);
  const finishes = step === undefined && isFinished(from.state);
  if (step !== undefined && plan.behind.length > 0) throw behind(target, step);
  const leftOut = plan.behind.map(
    (commit): LeftOut => ({ step: commit.step, reason: "older than what the copy holds" }),
  );
  const there = plan.there.map(infoOf);
  if (options.dryRun) {
    return { copied: plan.missing.map(infoOf), there, leftOut, sentBytes: 0, finished: finishes };
  }

  const totalBytes = plan.missing.reduce((sum, commit) => sum + commit.bytes, 0);
  let bytes = 0;
  let sentBytes = 0;
  let shipments = 0;
  const context: CopyContext = {
    source,
    sourceLog,
    hash: from.state.hash,
    target,
    log,
    book: new ReuseBook(),
    nextShipment: () => (shipments += 1),
    abandoned: new Set(),
    onChunk: (size, sent) => {
      bytes += size;
      sentBytes += sent;
      options.onProgress?.({ bytes: Math.min(bytes, totalBytes), totalBytes });
    },
    signal,
  };
  const copied: CheckpointInfo[] = [];
  // A copy that was cut off may have lacked the time to pin what it had committed.
  for (const original of plan.there) {
    const copy = held.find(({ originalAt }) => originalAt === original.at);
    if (copy) await copyPin(context, original, copy.commit.at);
  }
  let crew: readonly Tenure[] = [];
  for (const commit of plan.missing) {
    if (crew.length !== commit.manifests.length) {
      crew = await takeCopyTenure(target, log, commit.manifests.length, from.state.hash, signal);
    }
    const outcome = await copyCommit(context, crew, commit);
    if (outcome === "copied") copied.push(infoOf(commit));
    else leftOut.push({ step: commit.step, ...outcome });
  }
  const isWhole = leftOut.length === plan.behind.length;
  const finished = finishes && isWhole && (await finishCopy(context));
  // What a copy that was cut off has left, and what this one gave up on.
  if (before || context.abandoned.size > 0) await collectLeftovers(target, log, context.abandoned, signal);
  return { copied, there, leftOut, sentBytes, finished };
}

function behind(target: RunStore, step: number): OutlastError {
  const message = `run ${target.run} in ${target.store.url} already holds newer checkpoints than step ${step}`;
  return new OutlastError("OUTLAST_RUN_TAKEN", message, {
    operation: "copy",
    target: target.run,
    hint: "what is copied last counts as newest; give the copy a name of its own with --to-run NAME",
  });
}
