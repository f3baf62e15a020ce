import { exitCodes, formatDuration } from "../../core/index.ts";
import type { Command } from "../command.ts";
import { formatTable } from "../ui/table.ts";

/** `outlast queue status` */
export const queueStatus: Command = {
  name: "queue status",
  summary: "how much is ready, in hand, done and dead, and how long it will take",
  description:
    "Counts items by state in one snapshot, with the rate of the last minute, the time left at that rate and the number of workers that could be kept busy.",
  examples: [{ text: "How far is it?", command: "outlast queue status --queue sqlite:jobs.db" }],
  flags: ["queue", "results", "chunk", "chunksPerWorker", "maxWorkers", "json"],
  required: ["queue"],
  handler: async (args, context) => {
    const { withParts } = await import("../open-queue.ts");
    const { statusOf } = await import("../queue-status.ts");
    return withParts(args, context, async ({ ledger, broker }) => {
      const status = statusOf(broker?.url ?? ledger.url, await ledger.depth(), args);
      if (args.values.json) {
        context.printJson(status);
        return exitCodes.finished;
      }
      const { ready, leased, delayed, dead, done, total, oldestReadySeconds, ratePerMinute, etaSeconds, wanted } =
        status;
      const rows = [
        [
          "ready",
          String(ready),
          oldestReadySeconds === null ? "" : `the oldest for ${formatDuration(oldestReadySeconds * 1000)}`,
        ],
        ["leased", String(leased), "in the hands of workers"],
        ["delayed", String(delayed), "failed, to be tried again"],
        ["dead", String(dead), dead > 0 ? "see outlast queue dead" : ""],
        ["done", String(done), total > 0 ? `${Math.floor((100 * done) / total)}% of ${total}` : ""],
      ];
      context.print(formatTable([{ title: "STATE" }, { title: "ITEMS", align: "right" }, { title: "" }], rows));
      const eta = etaSeconds === null ? "unknown" : formatDuration(etaSeconds * 1000);
      context.print(`\n${ratePerMinute} a minute; time left: ${eta}; workers wanted: ${wanted}`);
      if (status.interruptions + status.late > 0) {
        context.print(`${status.interruptions} interruptions, ${status.late} late results`);
      }
      if (status.openPublications > 0) {
        context.print(
          `${status.openPublications} publication(s) open: publishing goes on, or was killed and must be run again`,
        );
      }
      return exitCodes.finished;
    });
  },
};
