import type { Command } from "../command.ts";
import { runFlags } from "./run-flags.ts";

/** `outlast run` */
export const run: Command = {
  name: "run",
  summary: "supervise a training program: restore, start, ship checkpoints, stop well",
  description:
    "Restores the newest good checkpoint into --dir, starts the program, ships every checkpoint it completes to the store in the background, and when the machine is about to go, stops it and commits what fits in the time left. Exits 75 when evicted: start it again and it resumes. An argument that contains {resume} gets the restored path, and is dropped when nothing was restored.",
  examples: [
    {
      text: "Put it in front of what you run now",
      command: "outlast run --store /mnt/store --dir ./ckpt -- python train.py",
    },
    {
      text: "Tell the program where to resume",
      command: "outlast run --store /mnt/store --dir ./ckpt -- python train.py --resume={resume}",
    },
    {
      text: "One of four shards",
      command: "outlast run --store /mnt/store --dir ./ckpt --run bert --shard 0/4 -- python train.py",
    },
  ],
  flags: runFlags,
  required: ["store", "dir"],
  positional: "CMD…",
  handler: async (args, context) => {
    const { superviseRun } = await import("../supervise-run.ts");
    return superviseRun(args, context);
  },
};
