import { exitCodes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { QueueDeadJson } from "../json/queue.ts";
import { formatTable } from "../ui/table.ts";

/** `outlast queue dead` */
export const queueDead: Command = {
  name: "queue dead",
  summary: "list the dead letters and why they died",
  description: "Lists items that failed for good, with their last error and how often they were tried.",
  examples: [{ text: "What went wrong?", command: "outlast queue dead --queue sqlite:jobs.db" }],
  flags: ["queue", "results", "limit", "json"],
  required: ["queue", "limit"],
  handler: async (args, context) => {
    const { withParts } = await import("../open-queue.ts");
    return withParts(args, context, async ({ ledger, broker }) => {
      const dead = await ledger.dead(undefined, args.need("limit"));
      if (args.values.json) {
        const queue = broker?.url ?? ledger.url;
        const shown = dead.map(({ id, data, error, failures, interruptions, diedAt }) => ({
          id,
          data,
          error,
          failures,
          interruptions,
          diedAt,
        }));
        context.printJson({ schema: 1, queue, dead: shown } satisfies QueueDeadJson);
        return exitCodes.finished;
      }
      if (dead.length === 0) {
        context.print("no dead letters");
        return exitCodes.finished;
      }
      context.print(
        formatTable(
          [
            { title: "ID" },
            { title: "FAILURES", align: "right" },
            { title: "INTERRUPTIONS", align: "right" },
            { title: "DIED" },
            { title: "ERROR" },
          ],
          dead.map(({ id, failures, interruptions, diedAt, error }) => [
            id,
            String(failures),
            String(interruptions),
            diedAt,
            oneLine(error),
          ]),
        ),
      );
      if (dead.length === args.need("limit")) context.print(`\nthe first ${dead.length}; --limit shows more`);
      context.print("\noutlast queue retry gives them another chance");
      return exitCodes.finished;
    });
  },
};

function oneLine(error: string): string {
  const text = error.replace(/\s+/g, " ");
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
