import { isOutlastError, OutlastError } from "../../core/index.ts";
import type { HashName } from "../hash.ts";
import { decodeRecord, type LogRecord, recordKey } from "../log/record.ts";
import type { CommitState } from "../log/state.ts";
import { getManifest } from "../manifest-codec.ts";
import type { RunStore } from "../run-store.ts";

/** A commit of the target that is a copy, and the position of its original in the source's log. */
export interface FormerCopy {
  readonly commit: CommitState;
  readonly originalAt: number;
}

/**
 * What the target holds already. Refuses a target that holds anything but copies from this very source: its log is a history of its own then, and
 * appending to it would put another run's past on top.
 */
export async function formerCopies(
  source: RunStore,
  target: RunStore,
  head: LogRecord | undefined,
  hash: HashName,
  signal?: AbortSignal,
): Promise<readonly FormerCopy[]> {
  if (!head) return [];
  if (head.state.hash !== hash)
    throw taken(source, target, `it names chunks by ${head.state.hash}, the source by ${hash}`);
  await refuseStarted(target, head, signal);
  const copies: FormerCopy[] = [];
  for (const commit of head.state.commits) {
    if (commit.damaged) continue;
    const original = await originalOf(source, target, head, commit, signal);
    if (original === undefined) {
      throw taken(source, target, `its step ${commit.step} was not copied from run ${source.run} there`);
    }
    copies.push({ commit, originalAt: original });
  }
  return copies;
}

/**
 * Refuses a target in which a program was started: the epoch of a copy would end that start. Asked again at the very position where the
 * epoch is appended, so that a start cannot slip in between.
 */
export async function refuseStarted(target: RunStore, head: LogRecord, signal?: AbortSignal): Promise<void> {
  for (const { epoch } of head.state.epochs) {
    const { body } = await readRecord(target, epoch, signal);
    if (body.kind === "epoch" && body.copy) continue;
    throw taken(undefined, target, "`outlast run` was started on it and may be running");
  }
}

/** The position of the source's commit that this is a copy of; undefined when it is none. */
async function originalOf(
  source: RunStore,
  target: RunStore,
  head: LogRecord,
  commit: CommitState,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const [ref] = commit.manifests;
  const from = ref && (await getManifest(target, ref, head.state.hash, signal)).copiedFrom;
  if (!from) return undefined;
  try {
    const { id } = await readRecord(source, from.at, signal);
    return id === from.id ? from.at : undefined;
  } catch (error) {
    // Records are never deleted: a source without that one is another run.
    if (isOutlastError(error, "OUTLAST_OBJECT_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** One record of a run's log. */
export async function readRecord(run: RunStore, n: number, signal?: AbortSignal): Promise<LogRecord> {
  const key = recordKey(n);
  return decodeRecord(await run.get(key, { signal }), n, run.prefix + key);
}

function taken(source: RunStore | undefined, target: RunStore, what: string): OutlastError {
  const from = source ? ` (${source.store.url})` : "";
  return new OutlastError(
    "OUTLAST_RUN_TAKEN",
    `run ${target.run} in ${target.store.url} cannot take a copy: ${what}${from}`,
    {
      operation: "copy",
      target: target.run,
      hint: "give the copy a name of its own with --to-run NAME",
    },
  );
}
