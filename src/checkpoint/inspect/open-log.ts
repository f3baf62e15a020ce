import { OutlastError, systemClock } from "../../core/index.ts";
import type { LogRecord } from "../log/record.ts";
import { RunLog } from "../log/run-log.ts";
import type { RunStore } from "../run-store.ts";

/** The log of a run that must exist, and its head. */
export async function openLog(run: RunStore, signal?: AbortSignal): Promise<{ log: RunLog; head: LogRecord }> {
  const log = new RunLog(run, { clock: systemClock });
  const head = await log.head(signal);
  if (head) return { log, head };
  for await (const { key } of run.list("", { signal })) {
    throw new OutlastError("OUTLAST_LOG_LOST", `run ${run.run} has data (${key}) but no log`, {
      target: `${run.store.url}/${run.prefix}log/`,
      hint: "restore the log/ objects from a backup",
    });
  }
  throw new OutlastError("OUTLAST_RUN_UNKNOWN", `there is no run ${run.run} in ${run.store.url}`, {
    hint: "`outlast status --store …` lists the runs of a store",
  });
}
