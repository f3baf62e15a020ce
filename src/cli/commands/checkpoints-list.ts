import { exitCodes, formatBytes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { CheckpointsListJson } from "../json/checkpoints.ts";
import { checkpointRows, checkpointTitles } from "../ui/checkpoint-rows.ts";
import { formatTable } from "../ui/table.ts";

/** `outlast checkpoints list` */
export const checkpointsList: Command = {
  name: "checkpoints list",
  summary: "list a run's checkpoints, newest first",
  description: "Lists what can be restored, newest first. Reads only the log: it is quick and changes nothing.",
  examples: [{ text: "What could be resumed?", command: "outlast checkpoints list --store /mnt/store --run bert" }],
  flags: ["store", "run", "json"],
  required: ["store", "run"],
  handler: async (args, context) => {
    const { listCheckpoints } = await import("../../checkpoint/index.ts");
    const { openRunOf } = await import("../open-run.ts");
    const { run, checkpoints, finished } = await listCheckpoints(await openRunOf(args, context, "read"));
    if (args.values.json) {
      context.printJson({ schema: 1, run, finished, checkpoints: [...checkpoints] } satisfies CheckpointsListJson);
      return exitCodes.finished;
    }
    if (checkpoints.length === 0) {
      context.print(`run ${run} has no checkpoint yet`);
      return exitCodes.finished;
    }
    context.print(formatTable(checkpointTitles, checkpointRows(checkpoints)));
    const total = checkpoints.reduce((sum, { bytes }) => sum + bytes, 0);
    const count = `${checkpoints.length} checkpoint${checkpoints.length === 1 ? "" : "s"}`;
    context.print(
      `\n${count} of ${formatBytes(total)} together, before sharing${finished ? "; the run is finished" : ""}`,
    );
    return exitCodes.finished;
  },
};
