import { type Clock, OutlastError } from "../core/index.ts";
import type { RunLog } from "./log/run-log.ts";
import { type CommitState, commitAt, type LogState, targetOf } from "./log/state.ts";
import type { RunStore } from "./run-store.ts";
import { requireTenure, type Tenure } from "./tenure.ts";

/** What trying to restore a commit showed: `damaged` only for bytes that are missing or wrong, never for a store that cannot be reached. */
export type RestoreOutcome = { readonly ok: true } | { readonly ok: false; readonly damaged: string };

export interface SettleOptions {
  readonly shard: number;
  readonly of: number;
  readonly epoch: number;
  readonly clock: Clock;
  /** Restores and verifies this shard's part of a commit. */
  readonly restore: (commit: CommitState, state: LogState) => Promise<RestoreOutcome>;
  readonly onDamaged?: (commit: CommitState, why: string) => void;
  /** Called when this shard is ready and others are not. */
  readonly onWaiting?: (missing: number) => void;
  /** How often to look for the other shards. @default 1000 */
  readonly pollMs?: number;
}

/** Which commit the program resumes from (undefined: from nothing) and the identity it runs under. */
export interface Settled {
  readonly target: CommitState | undefined;
  readonly tenure: Tenure;
}

/**
 * Restores the newest good commit, going back to older ones as long as damage is found, and writes every damage down, so that neither retention
 * nor reuse counts on it. With several shards, says ready and waits until all are, on the same target.
 */
export async function settleTarget(
  run: RunStore,
  log: RunLog,
  options: SettleOptions,
  signal?: AbortSignal,
): Promise<Settled> {
  const { shard, of, epoch } = options;
  let restored: number | undefined;
  for (;;) {
    const state = requireTenure(await log.head(signal), run.run, options);
    const target = chooseTarget(state, run);
    const position = target?.at ?? 0;
    if (target && restored !== position) {
      const outcome = await options.restore(target, state);
      if (!outcome.ok) {
        await writeDamage(run, log, options, target, outcome.damaged, signal);
        continue;
      }
    }
    restored = position;
    if (of === 1) return { target, tenure: { shard, of, epoch, gang: epoch } };
    const gang = await joinGang(run, log, options, position, signal);
    if (gang !== undefined) return { target, tenure: { shard, of, epoch, gang } };
  }
}

function chooseTarget(state: LogState, run: RunStore): CommitState | undefined {
  const target = targetOf(state);
  if (target || state.committed === 0) return target;
  throw new OutlastError("OUTLAST_NO_GOOD_CHECKPOINT", `run ${run.run} has checkpoints but none of them verifies`, {
    target: `${run.store.url}/${run.prefix}`,
    hint: "see `outlast checkpoints verify`; restore the damaged objects, or start over under another --run name",
  });
}

/** A commit that was dropped meanwhile is not damaged: the missing objects were deleted on purpose, and the choice is made again. */
async function writeDamage(
  run: RunStore,
  log: RunLog,
  options: SettleOptions,
  target: CommitState,
  why: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const outcome = await log.append<undefined>((head) => {
    const commit = commitAt(requireTenure(head, run.run, options), target.at);
    if (!commit || commit.damaged) return { result: undefined };
    return { append: { kind: "damaged", epoch: options.epoch, commit: target.at, why } };
  }, signal);
  if ("appended" in outcome) options.onDamaged?.(target, why);
}

/** Says ready and waits for the gang; undefined when the target moved and has to be restored first. */
async function joinGang(
  run: RunStore,
  log: RunLog,
  options: SettleOptions,
  target: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const { epoch, clock, pollMs = 1000 } = options;
  const mine = (state: LogState) => state.epochs.find((entry) => entry.epoch === epoch);
  const outcome = await log.append<LogState>((head) => {
    const state = requireTenure(head, run.run, options);
    const isSaid = state.gang !== null || (targetOf(state)?.at ?? 0) !== target || mine(state)?.ready === target;
    return isSaid ? { result: state } : { append: { kind: "ready", epoch, target } };
  }, signal);
  let state = "appended" in outcome ? outcome.appended.state : outcome.result;
  let told = false;
  for (;;) {
    if (state.gang !== null) return state.gang;
    if ((targetOf(state)?.at ?? 0) !== target) return undefined;
    if (!told) options.onWaiting?.(state.of - state.epochs.filter((entry) => entry.ready === target).length);
    told = true;
    await clock.sleep(pollMs, signal);
    signal?.throwIfAborted();
    state = requireTenure(await log.head(signal), run.run, options);
  }
}
