import { exitCodes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { QueueAuditJson } from "../json/queue.ts";

/** `outlast queue audit` */
export const queueAudit: Command = {
  name: "queue audit",
  summary: "prove that every published item has exactly one result or a dead letter",
  description:
    "Compares, id by id and in one snapshot, what was published with what was settled and with the rows of the results. Exits 1 when an item is missing or was settled twice.",
  examples: [{ text: "Is everything there, once?", command: "outlast queue audit --queue sqlite:jobs.db" }],
  flags: ["queue", "results", "json"],
  required: ["queue"],
  handler: async (args, context) => {
    const { withParts } = await import("../open-queue.ts");
    return withParts(args, context, async ({ ledger, broker }) => {
      const { published, done, dead, missing, duplicates, late, openPublications } = await ledger.audit();
      const ok = missing.length === 0 && duplicates.length === 0;
      const exitCode = ok ? exitCodes.finished : exitCodes.failed;
      if (args.values.json) {
        const counts = {
          published,
          done,
          dead,
          missing: [...missing],
          duplicates: [...duplicates],
          late,
          openPublications,
        };
        context.printJson({ schema: 1, queue: broker?.url ?? ledger.url, ok, ...counts } satisfies QueueAuditJson);
        return exitCode;
      }
      context.print(
        `published ${published}: ${done} done, ${dead} dead, ${missing.length} missing, ${duplicates.length} twice`,
      );
      for (const [what, ids] of [
        ["missing", missing],
        ["twice", duplicates],
      ] as const) {
        for (const id of ids.slice(0, 20)) context.print(`${what}: ${id}`);
        if (ids.length > 20) context.print(`${what}: … and ${ids.length - 20} more; --json lists all`);
      }
      if (late > 0) context.print(`${late} late results were refused: one stood already`);
      if (openPublications > 0) context.print(`${openPublications} publication(s) open: more may be published yet`);
      if (ok) context.print("every published item has exactly one result or a dead letter");
      return exitCode;
    });
  },
};
