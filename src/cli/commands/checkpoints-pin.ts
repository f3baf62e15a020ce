import { exitCodes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { CheckpointsPinJson } from "../json/checkpoints.ts";

function pinning(pinned: boolean): Command {
  const word = pinned ? "pin" : "unpin";
  return {
    name: `checkpoints ${word}`,
    summary: pinned ? "keep a checkpoint whatever --keep says" : "let a pinned checkpoint go when its time comes",
    description: pinned
      ? "Pins the checkpoint of a step: retention never drops it."
      : "Unpins the checkpoint of a step: retention may drop it again.",
    examples: [
      {
        text: `${pinned ? "Pin" : "Unpin"} step 1000`,
        command: `outlast checkpoints ${word} --store /mnt/store --run bert --step 1000`,
      },
    ],
    flags: ["store", "run", "step", "json"],
    required: ["store", "run", "step"],
    handler: async (args, context) => {
      const { pinCheckpoint } = await import("../../checkpoint/index.ts");
      const { openRunOf } = await import("../open-run.ts");
      const run = await openRunOf(args, context, "write");
      const step = args.need("step");
      await pinCheckpoint(run, step, pinned);
      if (args.values.json) context.printJson({ schema: 1, run: run.run, step, pinned } satisfies CheckpointsPinJson);
      else context.print(`step ${step} of ${run.run} is ${pinned ? "pinned" : "no longer pinned"}`);
      return exitCodes.finished;
    },
  };
}

/** `outlast checkpoints pin` */
export const checkpointsPin: Command = pinning(true);

/** `outlast checkpoints unpin` */
export const checkpointsUnpin: Command = pinning(false);
