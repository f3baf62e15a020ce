import type { CommitState, LogState } from "../log/state.ts";
import { isFinished } from "../log/state.ts";
import type { RunStore } from "../run-store.ts";
import { openLog } from "./open-log.ts";

/** A live checkpoint, for people and scripts. */
export interface CheckpointInfo {
  readonly step: number;
  readonly bytes: number;
  readonly files: number;
  readonly committedAt: string;
  /** `retired`: of a branch that was abandoned; `damaged`: a start found bytes missing or wrong. */
  readonly state: "good" | "retired" | "damaged";
  readonly pinned: boolean;
  /** Its position in the log: what is newest is decided by this, not by the step. */
  readonly position: number;
  readonly shards: number;
}

export interface CheckpointList {
  readonly run: string;
  /** Newest first. */
  readonly checkpoints: readonly CheckpointInfo[];
  readonly finished: boolean;
}

/** All live checkpoints of a run. */
export async function listCheckpoints(run: RunStore, signal?: AbortSignal): Promise<CheckpointList> {
  const { head } = await openLog(run, signal);
  return { run: run.run, checkpoints: infosOf(head.state), finished: isFinished(head.state) };
}

/** A state's commits, newest first. */
export function infosOf(state: LogState): CheckpointInfo[] {
  return state.commits.toReversed().map(infoOf);
}

export function infoOf(commit: CommitState): CheckpointInfo {
  return {
    step: commit.step,
    bytes: commit.bytes,
    files: commit.files,
    committedAt: commit.committedAt,
    state: commit.damaged ? "damaged" : commit.retired ? "retired" : "good",
    pinned: commit.pinned,
    position: commit.at,
    shards: commit.manifests.length,
  };
}
