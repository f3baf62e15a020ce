import { dirname } from "node:path";
import { keys } from "../facts/keys.ts";
import { nearest } from "../facts/near.ts";
import { fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";
import { isSameNamespace } from "./shared/work.ts";

export const kueueQueueMissing: Rule = {
  id: "kueue-queue-missing",
  title: "The Job names a LocalQueue that its namespace does not have",
  severity: "warning",
  why: "Kueue keeps a job suspended until its LocalQueue, in the job's own namespace, admits it. With a wrong name it stays suspended for ever, and nothing fails.",
  fix: "Correct the queue's name, or create the LocalQueue in that namespace.",
  sources: ["Kueue: LocalQueue"],
  *object(object, context) {
    const label = object.node.get("metadata", "labels", keys.kueueQueue);
    const queues = context.ofKind("LocalQueue");
    if (!label?.text || queues.length === 0 || /[$<{]/.test(label.text)) return;
    const here = queues.filter(({ namespace }) => isSameNamespace(namespace, object.namespace));
    if (here.some(({ name }) => name === label.text)) return;
    const elsewhere = queues.find(({ name }) => name === label.text);
    // An object without a namespace takes that of the command that applies it.
    if (elsewhere && object.namespace === undefined) return;
    const near = nearest(
      label.text,
      here.map(({ name }) => name),
      2,
    );
    const folder = dirname(object.node.file.path);
    // Queues of another project say nothing: there must be one next to the job, or one of almost that name.
    if (!elsewhere && !near && !here.some(({ node }) => dirname(node.file.path) === folder)) return;
    yield {
      at: label,
      message: elsewhere
        ? `the LocalQueue "${label.text}" is in namespace ${elsewhere.namespace ?? "default"}, not in ${object.namespace ?? "default"}: the job stays suspended`
        : `there is no LocalQueue "${label.text}"${near ? `; did you mean "${near}"?` : ""}: the job stays suspended`,
      fix: near ? fixOf("safe", `write ${near}`, replaceValue(label, near)) : undefined,
    };
  },
};
