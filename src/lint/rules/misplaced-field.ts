import type { Report, Rule } from "../rule.ts";
import type { Node } from "../source/node.ts";
import { containerFields, jobFields, podFields } from "./shared/fields.ts";

export const misplacedField: Rule = {
  id: "misplaced-field",
  title: "A field at a level where nobody reads it",
  severity: "error",
  why: "terminationGracePeriodSeconds in a container, backoffLimit in the pod, tolerations in the Job: kubectl refuses such a file and other clients drop the field without a word, so that the pod runs with the default.",
  fix: "Move it to the level that the message names.",
  sources: ["Kubernetes: API reference, Job and Pod"],
  *template({ template }) {
    const { jobSpec, spec, object, containers } = template;
    if (object.group === "argoproj.io") return;
    if (jobSpec) yield* check(jobSpec, jobFields, "a Job", [["the pod's spec", podFields]]);
    yield* check(spec, podFields, "a pod", [
      ["a container", containerFields],
      ...(jobSpec ? ([["the Job's spec", jobFields]] as const) : []),
    ]);
    for (const { node } of containers)
      yield* check(node, containerFields, "a container", [
        ["the pod's spec", podFields],
        ...(jobSpec ? ([["the Job's spec", jobFields]] as const) : []),
      ]);
  },
};

function* check(
  map: Node,
  own: readonly string[],
  of: string,
  elsewhere: readonly (readonly [string, readonly string[]])[],
): Iterable<Report> {
  for (const { name, key } of map.entries) {
    if (own.includes(name)) continue;
    const home = elsewhere.find(([, fields]) => fields.includes(name));
    if (home)
      yield {
        at: key,
        message: `"${name}" is no field of ${of}; it belongs in ${home[0]}. Here it is refused or dropped`,
      };
  }
}
