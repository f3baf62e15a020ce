import type { HashName } from "../hash.ts";
import type { LogRecord } from "../log/record.ts";
import type { RunLog } from "../log/run-log.ts";
import { isFinished, targetOf } from "../log/state.ts";
import type { RunStore } from "../run-store.ts";
import { takeOver } from "../take-over.ts";
import { requireTenure, type Tenure } from "../tenure.ts";
import { refuseStarted } from "./former-copies.ts";

/**
 * Takes charge of the target as a start would, for all shards at once, so that the copy is committed by the same rules as any checkpoint: from here on
 * an older copy can no longer commit, and a start of the program ends this one.
 */
export async function takeCopyTenure(
  target: RunStore,
  log: RunLog,
  of: number,
  hash: HashName,
  signal?: AbortSignal,
): Promise<readonly Tenure[]> {
  const epochs: number[] = [];
  for (let shard = 0; shard < of; shard += 1) {
    const mayFollow = async (head: LogRecord | undefined) => {
      if (head) await refuseStarted(target, head, signal);
    };
    const again = log.seen !== undefined && isFinished(log.seen.state);
    const record = await takeOver(target, log, { shard, of, hash, again, copy: true, mayFollow }, signal);
    if (!record) throw new Error(`run ${target.run} was finished by another copy at this moment`);
    epochs.push(record.n);
  }
  const gang = of === 1 ? (epochs[0] ?? 0) : await formGang(target, log, epochs, signal);
  return epochs.map((epoch, shard) => ({ shard, of, epoch, gang }));
}

/** A copy restores nothing and reuses nothing of the target, so it is ready on whatever the target is without reading it. */
async function formGang(
  target: RunStore,
  log: RunLog,
  epochs: readonly number[],
  signal: AbortSignal | undefined,
): Promise<number> {
  for (const [shard, epoch] of epochs.entries()) {
    await log.append<undefined>((head) => {
      const state = requireTenure(head, target.run, { shard, of: epochs.length, epoch });
      const position = targetOf(state)?.at ?? 0;
      const isReady = state.epochs.find((entry) => entry.shard === shard)?.ready === position;
      return isReady || state.gang !== null
        ? { result: undefined }
        : { append: { kind: "ready", epoch, target: position } };
    }, signal);
  }
  const gang = log.seen?.state.gang;
  if (typeof gang !== "number") throw new Error(`the shards of run ${target.run} did not come together`);
  return gang;
}
