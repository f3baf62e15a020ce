import { nearest } from "../facts/near.ts";
import { fixOf } from "../fix/edits.ts";
import type { Report, Rule } from "../rule.ts";
import type { Node } from "../source/node.ts";
import { containerFields, jobFields, podFields } from "./shared/fields.ts";

/** Names that people expect and that do not exist, with what they mean. */
const imagined: Readonly<Record<string, string>> = {
  maxParallelism: "parallelism",
  maxRetries: "backoffLimit",
  retries: "backoffLimit",
  maxRunDurationSeconds: "activeDeadlineSeconds",
};

export const unknownField: Rule = {
  id: "unknown-field",
  title: "A field that does not exist",
  severity: "error",
  why: "A field that the API does not know is refused by kubectl, and silently dropped by other clients: the limit, policy or period that it was meant to set is not there. maxParallelism is the best known: a Job has parallelism only, and without it runs one pod.",
  fix: "Use the name that exists.",
  sources: ["Kubernetes: API reference, Job and Pod", "Kubernetes: server-side field validation"],
  *template({ template }) {
    const { jobSpec, spec, object, containers } = template;
    if (jobSpec) yield* check(jobSpec, jobFields, "a Job");
    if (object.group !== "argoproj.io") yield* check(spec, podFields, "a pod");
    if (object.group !== "argoproj.io")
      for (const { node } of containers) yield* check(node, containerFields, "a container");
  },
};

function* check(map: Node, known: readonly string[], of: string): Iterable<Report> {
  for (const { name, key } of map.entries) {
    if (known.includes(name) || name.startsWith("x-") || name === "") continue;
    const near = (of === "a Job" ? imagined[name] : undefined) ?? nearest(name, known, 2);
    if (!near) continue;
    const isTaken = map.get(near) !== undefined;
    yield {
      at: key,
      message: `"${name}" is no field of ${of}; ${isTaken ? `"${near}" is, and stands there already` : `did you mean "${near}"?`}${name === "maxParallelism" && !isTaken ? " Without it 1 pod runs at a time" : ""}`,
      fix: isTaken
        ? undefined
        : fixOf(imagined[name] && of === "a Job" ? "unsafe" : "safe", `write ${near}`, {
            file: key.file,
            start: key.start,
            end: key.end,
            text: near,
          }),
    };
  }
}
