import { resolve } from "node:path";
import { exitCodes, OutlastError } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { QueueExportJson } from "../json/queue.ts";

/** `outlast queue export` */
export const queueExport: Command = {
  name: "queue export",
  summary: "write all results as JSON lines or CSV",
  description:
    "Writes every result, in order of id, to a file or to standard output. In CSV the fields of results that are objects become columns.",
  examples: [{ text: "A table", command: "outlast queue export --queue sqlite:jobs.db --out labels.csv" }],
  flags: ["queue", "results", "out", "format", "json", "noProgress"],
  required: ["queue", "format"],
  handler: async (args, context) => {
    const { values } = args;
    const out = values.out === undefined ? undefined : resolve(context.cwd, values.out);
    const format = formatOf(args.need("format"), out);
    if (values.json && out === undefined) {
      throw new OutlastError("OUTLAST_USAGE", "--json needs --out: standard output cannot hold both", {
        hint: "add --out FILE",
      });
    }
    const { withParts } = await import("../open-queue.ts");
    const { exportResults } = await import("../export-results.ts");
    return withParts(args, context, async ({ ledger, broker }) => {
      const { results, otherFields } = await exportResults(ledger.results(), {
        format,
        out,
        write: (text) => context.stdout.write(text),
        onProgress: (count) =>
          context.progress.update({ what: "exporting", text: `${count} results`, fields: { results: count } }),
      });
      context.progress.done();
      if (otherFields.length > 0) {
        context.logger.warn("fields that came later than the table's header were left out; JSON lines keep them", {
          fields: otherFields.slice(0, 20),
        });
      }
      if (values.json) {
        const queue = broker?.url ?? ledger.url;
        context.printJson({ schema: 1, queue, out: out ?? "", format, results } satisfies QueueExportJson);
      } else if (out !== undefined) {
        context.print(`${results} results in ${values.out}`);
      }
      return exitCodes.finished;
    });
  },
};

function formatOf(format: string, out: string | undefined): "csv" | "jsonl" {
  if (format === "csv" || format === "jsonl") return format;
  if (format === "auto") return out?.toLowerCase().endsWith(".csv") ? "csv" : "jsonl";
  throw new OutlastError("OUTLAST_USAGE", `results cannot be written as "${format}"`, {
    hint: "--format csv or jsonl",
  });
}
