import type { HashName } from "../hash.ts";

/** A shard manifest named by a commit. */
export interface ManifestRef {
  readonly shard: number;
  /** Key below the run. */
  readonly key: string;
  /** Hash of the manifest's bytes, by the run's hash function. */
  readonly hash: string;
}

/** A start that is still in charge of its shard. */
export interface EpochState {
  readonly shard: number;
  /** Position of its record. */
  readonly epoch: number;
  /** The target it has verified (0: nothing to restore), or null. */
  readonly ready: number | null;
}

/** A live commit. */
export interface CommitState {
  /** Position of its record. */
  readonly at: number;
  readonly step: number;
  readonly gang: number;
  readonly epoch: number;
  readonly manifests: readonly ManifestRef[];
  readonly bytes: number;
  readonly files: number;
  readonly committedAt: string;
  readonly savedAt: string;
  /** A later commit has an equal or lower step: this one is an abandoned branch. */
  readonly retired: boolean;
  /** A start found it damaged. */
  readonly damaged: boolean;
  readonly pinned: boolean;
}

/** Everything the records up to a position amount to. */
export interface LogState {
  readonly hash: HashName;
  /** Number of shards of the newest start. */
  readonly of: number;
  /** Current epochs, in order of their shards; at most one a shard. */
  readonly epochs: readonly EpochState[];
  /** Position of the record that made all current epochs ready on one target; one shard: its epoch. */
  readonly gang: number | null;
  /** Highest step the gang has committed. */
  readonly gangStep: number | null;
  /** Live commits in ascending order of position. */
  readonly commits: readonly CommitState[];
  /** How many commits were ever made. */
  readonly committed: number;
  /** Shards whose program finished in the current gang. */
  readonly done: readonly number[];
  /** How often each shard has started, by shard. */
  readonly starts: readonly number[];
}

/** The state before the first record. */
export function emptyState(hash: HashName): LogState {
  return { hash, of: 0, epochs: [], gang: null, gangStep: null, commits: [], committed: 0, done: [], starts: [] };
}

/** Commits that a restore may choose, best first: newest unretired ones, then retired ones; damaged ones never. */
export function restorable(state: LogState): readonly CommitState[] {
  const whole = state.commits.filter((commit) => !commit.damaged).toReversed();
  return [...whole.filter((commit) => !commit.retired), ...whole.filter((commit) => commit.retired)];
}

/** The commit that starts restore and gangs agree on; undefined when there is none. */
export function targetOf(state: LogState): CommitState | undefined {
  return restorable(state)[0];
}

/** Whether every shard has finished. */
export function isFinished(state: LogState): boolean {
  return state.of > 0 && state.done.length === state.of;
}

/** A live commit by its position. */
export function commitAt(state: LogState, position: number): CommitState | undefined {
  return state.commits.find((commit) => commit.at === position);
}

/** Where a start stands: still in charge, overtaken by a newer start of its own shard, or ended with its gang. */
export function standing(state: LogState, shard: number, epoch: number): "current" | "superseded" | "gang-ended" {
  const mine = state.epochs.find((entry) => entry.shard === shard);
  if (mine?.epoch === epoch) return "current";
  return mine ? "superseded" : "gang-ended";
}
