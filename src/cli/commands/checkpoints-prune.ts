import { exitCodes, formatBytes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { CheckpointsPruneJson } from "../json/checkpoints.ts";
import { checkpointRows, checkpointTitles } from "../ui/checkpoint-rows.ts";
import { formatTable } from "../ui/table.ts";

/** `outlast checkpoints prune` */
export const checkpointsPrune: Command = {
  name: "checkpoints prune",
  summary: "drop all but the newest checkpoints",
  description:
    "Keeps the newest --keep good checkpoints and everything pinned, never fewer than two good ones, and deletes what only the others need. Safe while the run goes on.",
  examples: [
    { text: "What would go?", command: "outlast checkpoints prune --store /mnt/store --run bert --keep 2 --dry-run" },
  ],
  flags: ["store", "run", "keep", "dryRun", "json", "noProgress"],
  required: ["store", "run", "keep"],
  handler: async (args, context) => {
    const { pruneCheckpoints } = await import("../../checkpoint/index.ts");
    const { openRunOf } = await import("../open-run.ts");
    const dryRun = args.values.dryRun ?? false;
    const run = await openRunOf(args, context, dryRun ? "read" : "write");
    const { kept, dropped, deletedObjects, freedBytes } = await pruneCheckpoints(run, {
      keep: args.need("keep"),
      dryRun,
    });
    if (args.values.json) {
      const figures = { deletedObjects, freedBytes };
      const lists = { kept: [...kept], dropped: [...dropped] };
      context.printJson({ schema: 1, run: run.run, dryRun, ...lists, ...figures } satisfies CheckpointsPruneJson);
      return exitCodes.finished;
    }
    context.print(`keeps ${kept.length}:`);
    context.print(formatTable(checkpointTitles, checkpointRows(kept)));
    if (dropped.length === 0) {
      context.print("\nnothing to drop");
      return exitCodes.finished;
    }
    context.print(`\n${dryRun ? "would drop" : "dropped"} ${dropped.length}:`);
    context.print(formatTable(checkpointTitles, checkpointRows(dropped)));
    if (!dryRun) context.print(`\n${deletedObjects} objects deleted, ${formatBytes(freedBytes)} freed`);
    return exitCodes.finished;
  },
};
