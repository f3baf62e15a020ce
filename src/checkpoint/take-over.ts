import { OutlastError } from "../core/index.ts";
import type { HashName } from "./hash.ts";
import type { LogRecord } from "./log/record.ts";
import type { RunLog } from "./log/run-log.ts";
import { isFinished } from "./log/state.ts";
import type { RunStore } from "./run-store.ts";

export interface TakeOverOptions {
  readonly shard: number;
  readonly of: number;
  /** Run a finished run anew. @default false */
  readonly again?: boolean;
  /** Hash of a run that begins with this start. */
  readonly hash: HashName;
  /** Marks the epoch as that of a copy, not of a program. @default false */
  readonly copy?: boolean;
  /** Looks at the record that the epoch would follow and throws if it must not. */
  readonly mayFollow?: (head: LogRecord | undefined) => Promise<void>;
}

/**
 * Begins a start: its epoch record ends every earlier start of the shard. It comes before anything is chosen or read for a
 * restore, so that what is chosen cannot be overtaken unseen. Undefined when the run is finished already.
 */
export async function takeOver(
  run: RunStore,
  log: RunLog,
  options: TakeOverOptions,
  signal?: AbortSignal,
): Promise<LogRecord | undefined> {
  const { shard, of, again = false, copy = false, hash } = options;
  if (!(await log.head(signal))) await refuseLostLog(run, log, signal);
  const outcome = await log.append<undefined>(async (head) => {
    await options.mayFollow?.(head);
    if (head && isFinished(head.state) && !again) return { result: undefined };
    const marks = { ...(again ? { again } : {}), ...(copy ? { copy } : {}) };
    return { append: { kind: "epoch", shard, of, ...(head ? {} : { hash }), ...marks } };
  }, signal);
  return "appended" in outcome ? outcome.appended : undefined;
}

/**
 * Data without a log means that the log was lost. The log is read again after the list: a first start of another machine may have begun
 * between the two.
 */
async function refuseLostLog(run: RunStore, log: RunLog, signal: AbortSignal | undefined): Promise<void> {
  let found: string | undefined;
  for (const prefix of ["chunks/", "steps/", "log/"]) {
    for await (const { key } of run.list(prefix, { signal })) {
      found = key;
      break;
    }
    if (found) break;
  }
  if (!found || (await log.head(signal))) return;
  throw new OutlastError("OUTLAST_LOG_LOST", `run ${run.run} has data (${found}) but no log`, {
    target: `${run.store.url}/${run.prefix}log/`,
    hint: "restore the log/ objects from a backup, or start over under another --run name",
  });
}
