import { resolve } from "node:path";
import { exitCodes, formatBytes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { CheckpointsPullJson } from "../json/checkpoints.ts";

/** `outlast checkpoints pull` */
export const checkpointsPull: Command = {
  name: "checkpoints pull",
  summary: "fetch a checkpoint into a directory, verified",
  description:
    "Fetches the newest good checkpoint (or the one of --step) into --to and verifies every byte on the way. Never touches the run itself.",
  examples: [
    { text: "Get the newest one", command: "outlast checkpoints pull --store /mnt/store --run bert --to ./model" },
  ],
  flags: ["store", "run", "step", "to", "json", "noProgress"],
  required: ["store", "run", "to"],
  handler: async (args, context) => {
    const { createTransfer, pullCheckpoint } = await import("../../checkpoint/index.ts");
    const { openRunOf } = await import("../open-run.ts");
    const run = await openRunOf(args, context, "read");
    const transfer = createTransfer();
    try {
      const { step, path, bytes } = await pullCheckpoint(run, {
        step: args.values.step,
        to: resolve(context.cwd, args.need("to")),
        transfer,
        onProgress: (done) => context.progress.update({ what: "fetching", ...done }),
      });
      context.progress.done();
      if (args.values.json) {
        context.printJson({ schema: 1, run: run.run, step, path, bytes } satisfies CheckpointsPullJson);
      } else {
        context.print(`step ${step} (${formatBytes(bytes)}) is in ${path}`);
      }
      return exitCodes.finished;
    } finally {
      await transfer.close();
    }
  },
};
