import { exitCodes, formatBytes, isOutlastError } from "../../core/index.ts";
import type { CopyReport, RunStore } from "../../checkpoint/index.ts";
import type { Command, CommandArgs, CommandContext } from "../command.ts";
import type { CheckpointsCopyJson } from "../json/checkpoints.ts";
import { checkpointRows, checkpointTitles } from "../ui/checkpoint-rows.ts";
import { formatTable } from "../ui/table.ts";

/** `outlast checkpoints copy` */
export const checkpointsCopy: Command = {
  name: "checkpoints copy",
  summary: "copy a run's checkpoints into another store, verified",
  description:
    "Copies the good checkpoints of a run (or the one of --step) into --to-store, where `outlast run` resumes from them. Every byte is verified on the way, and a checkpoint becomes visible only when all of it is there; cut off, the same command goes on where it stopped, and later it copies what is new. The source is only read. Refuses a run in --to-store that is not a copy of this one, or that was continued there. Exits 1 when a checkpoint of the source is damaged.",
  examples: [
    {
      text: "Take the run to another bucket",
      command: "outlast checkpoints copy --store /mnt/store --run bert --to-store s3://bucket/team",
    },
    {
      text: "Branch off at step 1000",
      command:
        "outlast checkpoints copy --store /mnt/store --run bert --step 1000 --to-store /mnt/store --to-run bert-b",
    },
  ],
  flags: ["store", "run", "step", "toStore", "toRun", "dryRun", "json", "noProgress"],
  required: ["store", "run", "toStore"],
  handler: async (args, context) => {
    const { copyCheckpoints } = await import("../../checkpoint/index.ts");
    const { openRunOf } = await import("../open-run.ts");
    const dryRun = args.values.dryRun ?? false;
    const source = await openRunOf(args, context, "read");
    const target = await openTarget(args, context, dryRun);
    const report = await copyCheckpoints(source, target, {
      step: args.values.step,
      dryRun,
      clock: context.clock,
      onProgress: (done) => context.progress.update({ what: "copying", ...done }),
    });
    context.progress.done();
    if (args.values.json) printJson(context, source, target, report, dryRun);
    else printText(context, target, report, dryRun);
    return report.leftOut.some(({ reason }) => reason === "damaged") ? exitCodes.failed : exitCodes.finished;
  },
};

async function openTarget(args: CommandArgs, context: CommandContext, dryRun: boolean): Promise<RunStore> {
  const { openRun } = await import("../../checkpoint/index.ts");
  const { openStoreAt } = await import("../open-run.ts");
  const { MemoryStore } = await import("../../storage/index.ts");
  const location = args.need("toStore");
  const run = args.values.toRun ?? args.need("run");
  try {
    return openRun(await openStoreAt(location, context, dryRun ? "read" : "write"), run);
  } catch (error) {
    // A directory that the copy itself would make: to a dry run it is an empty store.
    if (dryRun && isOutlastError(error, "OUTLAST_DIR_MISSING")) return openRun(new MemoryStore(location), run);
    throw error;
  }
}

function printJson(
  context: CommandContext,
  source: RunStore,
  target: RunStore,
  { copied, there, leftOut, sentBytes, finished }: CopyReport,
  dryRun: boolean,
): void {
  const where = { run: source.run, toStore: target.store.url, toRun: target.run };
  const lists = { copied: [...copied], there: [...there], leftOut: [...leftOut] };
  context.printJson({
    schema: 1,
    ...where,
    dryRun,
    finished,
    ...lists,
    sentBytes,
  } satisfies CheckpointsCopyJson);
}

function printText(
  context: CommandContext,
  target: RunStore,
  { copied, there, leftOut, sentBytes, finished }: CopyReport,
  dryRun: boolean,
): void {
  const place = `run ${target.run} in ${target.store.url}`;
  if (copied.length === 0) context.print(there.length > 0 ? `${place} is up to date` : `nothing to copy to ${place}`);
  else {
    context.print(`${dryRun ? "would copy" : "copied"} ${copied.length} to ${place}:`);
    context.print(formatTable(checkpointTitles, checkpointRows(copied.toReversed())));
    if (there.length > 0) context.print(`\n${there.length} more were copied before`);
    if (!dryRun) context.print(`\n${formatBytes(sentBytes)} sent${finished ? "; the run is finished" : ""}`);
  }
  for (const { step, reason, why } of leftOut) {
    context.print(`step ${step} was left out: ${reason}${why === undefined ? "" : ` (${why})`}`);
  }
}
