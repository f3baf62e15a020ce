import { listCheckpoints, type RunStore } from "../checkpoint/index.ts";
import { askMachineRegion, isOnComputeEngine } from "../notice/index.ts";
import { compareRegions, locateStore } from "../storage/index.ts";
import type { CommandContext } from "./command.ts";

/**
 * Says once, in the log, when the run's bucket is in another region than this machine. Asked beside everything else: it delays
 * nothing, and when nobody answers it says nothing.
 */
export async function warnWhenApart(
  run: RunStore,
  given: string | undefined,
  { logger, env }: Pick<CommandContext, "logger" | "env">,
  signal: AbortSignal,
): Promise<void> {
  const { url } = run.store;
  if (!/^(gs|s3):/i.test(url)) return;
  try {
    const host = env["GCE_METADATA_HOST"];
    const region = given ?? (isOnComputeEngine(env) ? await askMachineRegion({ host, signal }) : undefined);
    const location = region === undefined ? undefined : await locateStore(url, { signal });
    if (region === undefined || location === undefined || !compareRegions({ region, location })) return;
    const apart = compareRegions({ region, location, checkpointBytes: await newestBytes(run, signal) });
    if (signal.aborted) return;
    logger.warn(
      "the store is in another region than this machine: checkpoints take longer, and their transfer is charged",
      {
        ...apart,
        hint: "use a bucket in this machine's region; `outlast checkpoints copy` takes a run there",
      },
    );
  } catch (error) {
    // A question of comfort: whatever is really wrong with the store, the run itself meets and reports.
    if (!signal.aborted) logger.debug("the regions of store and machine could not be compared", { error });
  }
}

/** What the newest checkpoint weighs; undefined before there is one. */
async function newestBytes(run: RunStore, signal: AbortSignal): Promise<number | undefined> {
  try {
    return (await listCheckpoints(run, signal)).checkpoints[0]?.bytes;
  } catch {
    // A run that has only begun has no log to read yet.
    return undefined;
  }
}
