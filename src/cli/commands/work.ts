import type { Command } from "../command.ts";

/** `outlast work` */
export const work: Command = {
  name: "work",
  summary: "a worker: pull items, skip what is done, handle, store, ack",
  description:
    "Pulls items in chunks, skips what is done, hands them to the handler, stores the results and acks them in one step where queue and results are one database. The handler is a program that reads JSON lines (after --), a TypeScript or JavaScript file (--handler) or an endpoint (--http). When the machine is about to go, it finishes what fits, gives the rest back at once, uncharged, and exits 75. Start as many as you like.",
  examples: [
    {
      text: "A program that loads its model once",
      command: "outlast work --queue sqlite:jobs.db --until-drained -- python infer.py",
    },
    {
      text: "Whole chunks on a GPU, results in your own table",
      command:
        "outlast work --queue postgres://db/jobs --results 'postgres://db/jobs?table=labels' --batch --chunk 32 -- python infer.py",
    },
    { text: "A TypeScript function", command: "outlast work --queue sqlite:jobs.db --handler ./infer.ts" },
    {
      text: "A model server on this machine",
      command: "outlast work --queue sqlite:jobs.db --http http://127.0.0.1:8000/infer",
    },
  ],
  flags: [
    "queue",
    "results",
    "chunk",
    "concurrency",
    "batch",
    "lease",
    "grace",
    "untilDrained",
    "exitOnEviction",
    "handler",
    "http",
    "itemTimeout",
    "maxResult",
    "attempts",
    "endsAt",
    "endsAtFile",
    "notice",
    "noProgress",
  ],
  required: ["queue"],
  positional: "CMD…",
  isPositionalOptional: true,
  handler: async (args, context) => {
    const { runWorker } = await import("../run-worker.ts");
    return runWorker(args, context);
  },
};
