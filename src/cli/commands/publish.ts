import { exitCodes } from "../../core/index.ts";
import type { Command } from "../command.ts";
import type { PublishJson } from "../json/queue.ts";

/** `outlast publish` */
export const publish: Command = {
  name: "publish",
  summary: "turn a dataset into items of a queue, each once however often it is run",
  description:
    "Reads CSV, TSV or JSON lines (gzipped or not), files by pattern, the objects below a gs:// or s3:// prefix, or standard input (-), and adds each row, file or object as an item. Publishing the same again adds nothing, so a publish that was killed is simply run again. A file that is not a table is an item {path, size}; an object is {url, size}. Without --id an item's id is the hash of its data and of --version.",
  examples: [
    { text: "Rows of a table", command: "outlast publish images.csv --queue sqlite:jobs.db --id path" },
    { text: "One item per file", command: "outlast publish 'images/**/*.jpg' --queue sqlite:jobs.db" },
    {
      text: "Objects of a bucket, anew for another model",
      command: "outlast publish gs://my-bucket/images --queue postgres://db/jobs --version resnet50-v2",
    },
    { text: "What would be published?", command: "outlast publish images.csv --queue sqlite:jobs.db --dry-run" },
  ],
  flags: ["queue", "results", "id", "version", "format", "skipBad", "dryRun", "json", "noProgress"],
  required: ["queue"],
  operands: { label: "SOURCE…", required: true },
  handler: async (args, context) => {
    const { runPublish } = await import("../run-publish.ts");
    const { result, exitCode } = await runPublish(args, context);
    const { publication, isComplete, first, read, added, known, duplicates, bad, sent } = result;
    const dryRun = args.values.dryRun ?? false;
    if (args.values.json) {
      const counts = { read, added, known, duplicates, bad, sent };
      context.printJson({
        schema: 1,
        publication,
        dryRun,
        complete: isComplete,
        ...counts,
        first: first.map(({ id, data }) => ({ id, data })),
      } satisfies PublishJson);
      return exitCode;
    }
    const notes = [
      ...(known > 0 ? [`${known} published before`] : []),
      ...(duplicates > 0 ? [`${duplicates} rows with an id that came before`] : []),
      ...(bad > 0 ? [`${bad} bad lines skipped`] : []),
      ...(sent > 0 ? [`${sent} messages sent`] : []),
    ];
    const rest = notes.length > 0 ? ` (${notes.join(", ")})` : "";
    if (dryRun) {
      context.print(`would publish ${read - duplicates - bad} of ${read} rows${rest}; the first:`);
      for (const item of first) context.print(JSON.stringify(item));
    } else {
      context.print(`published ${added} new of ${read} rows${rest}`);
    }
    if (!isComplete) context.print("stopped before the end: run it again to go on");
    // To the letter of its contract the id is the column: another version alone changes no id.
    if (args.values.id !== undefined && args.values.version !== undefined && added === 0 && known > 0) {
      context.print(
        "hint: with --id the id decides, not --version; leave --id out or use another queue to do the work anew",
      );
    }
    return isComplete ? exitCodes.finished : exitCode;
  },
};
