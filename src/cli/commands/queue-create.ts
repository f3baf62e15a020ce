import { exitCodes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { QueueCreateJson } from "../json/queue.ts";

/** `outlast queue create` */
export const queueCreate: Command = {
  name: "queue create",
  summary: "make or check what a queue needs",
  description:
    "Makes what is missing (tables; for Pub/Sub the topic and the subscription, with the right ack deadline and no dead-letter policy) and checks what is there. `publish` and `work` do the same by themselves where they may; --dry-run prints the statements and commands instead, for whoever may.",
  examples: [
    {
      text: "What would have to be done?",
      command:
        "outlast queue create --queue 'pubsub://my-project/images?topic=images' --results postgres://db/jobs --dry-run",
    },
  ],
  flags: ["queue", "results", "dryRun", "json"],
  required: ["queue"],
  handler: async (args, context) => {
    const { withParts } = await import("../open-queue.ts");
    const dryRun = args.values.dryRun ?? false;
    return withParts(args, context, async ({ ledger, broker }) => {
      const plan = [...((await broker?.plan()) ?? []), ...(await ledger.plan())];
      if (!dryRun) {
        await broker?.prepare();
        await ledger.prepare();
      }
      const queue = broker?.url ?? ledger.url;
      if (args.values.json) context.printJson({ schema: 1, queue, dryRun, plan } satisfies QueueCreateJson);
      else if (dryRun) context.print(plan.length > 0 ? plan.join("\n") : "nothing is missing");
      else context.print(plan.length > 0 ? `${queue} is ready` : `${queue} was ready; nothing had to be made`);
      return exitCodes.finished;
    });
  },
};
