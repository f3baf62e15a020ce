import { exitCodes, OutlastError } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { QueuePurgeJson } from "../json/queue.ts";

/** `outlast queue purge` */
export const queuePurge: Command = {
  name: "queue purge",
  summary: "forget everything that was published",
  description:
    "Forgets every item, done or not, and its dead letters; results in your own table stay. Publishing again starts anew. There is no way back: it asks for --yes.",
  examples: [{ text: "Start anew", command: "outlast queue purge --queue sqlite:jobs.db --yes" }],
  flags: ["queue", "results", "yes", "json"],
  required: ["queue"],
  handler: async (args, context) => {
    const { withParts } = await import("../open-queue.ts");
    return withParts(args, context, async ({ ledger, broker }) => {
      const queue = broker?.url ?? ledger.url;
      if (!args.values.yes) {
        const { total, done } = await ledger.depth();
        throw new OutlastError(
          "OUTLAST_USAGE",
          `${queue} holds ${total} items, ${total - done} of them not done: they would be forgotten`,
          {
            hint: "add --yes if that is what you want",
          },
        );
      }
      const purged = await ledger.purge();
      if (args.values.json) context.printJson({ schema: 1, queue, purged } satisfies QueuePurgeJson);
      else context.print(`${purged} items forgotten`);
      return exitCodes.finished;
    });
  },
};
