import { exitCodes, OutlastError } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { QueueRetryJson } from "../json/queue.ts";

/** `outlast queue retry` */
export const queueRetry: Command = {
  name: "queue retry",
  summary: "give dead letters another chance",
  description:
    "Makes all dead letters (or those whose ids are given) pending again, with their counts cleared. With --missing it sends again what was sent to a separate broker and never settled, such as messages that the broker's retention took.",
  examples: [
    { text: "All of them", command: "outlast queue retry --queue sqlite:jobs.db" },
    { text: "Some", command: "outlast queue retry img-17 img-99 --queue sqlite:jobs.db" },
  ],
  flags: ["queue", "results", "missing", "json"],
  required: ["queue"],
  operands: { label: "ID…", required: false },
  handler: async (args, context) => {
    const { operands, values } = args;
    if (values.missing && operands.length > 0) {
      throw new OutlastError("OUTLAST_USAGE", "--missing looks for the ids itself", { hint: "leave the ids out" });
    }
    const { withParts } = await import("../open-queue.ts");
    const { sendPending } = await import("../../queue/index.ts");
    return withParts(args, context, async ({ ledger, broker }) => {
      const retried = values.missing
        ? await ledger.retryMissing()
        : await ledger.retry(operands.length > 0 ? operands : undefined);
      const sent = broker ? await sendPending(ledger, broker) : 0;
      if (values.json) {
        context.printJson({ schema: 1, queue: broker?.url ?? ledger.url, retried, sent } satisfies QueueRetryJson);
      } else {
        context.print(`${retried} pending again${broker ? `, ${sent} messages sent` : ""}`);
        const unknown = operands.length - retried;
        if (operands.length > 0 && unknown > 0) context.print(`${unknown} of the ids named no dead letter`);
      }
      return exitCodes.finished;
    });
  },
};
