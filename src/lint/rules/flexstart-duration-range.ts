import { keys } from "../facts/keys.ts";
import type { LintContext, Report, Rule } from "../rule.ts";
import type { Node } from "../source/node.ts";

export const flexstartDurationRange: Rule = {
  id: "flexstart-duration-range",
  title: "A maximum run duration that flex-start does not take",
  severity: "error",
  why: "Flex-start nodes live between 10 minutes and 7 days: 600 to 604800 seconds, written as a whole number of seconds.",
  fix: "Write a number between 600 and 604800.",
  sources: ["GKE cluster autoscaler: flex-start injection", "GKE: flex-start provisioning mode"],
  *template({ template, placement }) {
    if (placement.reach.flexStart.verdict !== "must") return;
    const node = template.spec.get("nodeSelector", keys.maxRunDuration);
    if (node) yield* check(node);
  },
  *object(object) {
    const annotation = object.node.get("metadata", "annotations", "provreq.kueue.x-k8s.io/maxRunDurationSeconds");
    if (annotation) yield* check(annotation);
    if (object.kind === "ProvisioningRequest") {
      const parameter = object.node.get("spec", "parameters", "maxRunDurationSeconds");
      if (parameter) yield* check(parameter);
    }
    if (object.kind === "ComputeClass") {
      for (const rule of object.node.get("spec", "priorities")?.items ?? []) {
        const duration = rule.get("maxRunDurationSeconds");
        if (duration && rule.get("flexStart", "enabled")?.isTrue) yield* check(duration);
      }
    }
  },
  *pool(pool, _context: LintContext) {
    const { maxRunSeconds, capacity } = pool;
    if (capacity === "flexStart" && maxRunSeconds !== undefined && (maxRunSeconds < 600 || maxRunSeconds > 604_800)) {
      yield {
        at: pool.span,
        message: `the flex-start pool "${pool.name ?? "?"}" has nodes of ${maxRunSeconds} s; between 600 and 604800 are possible`,
      };
    }
  },
};

function* check(node: Node): Iterable<Report> {
  const value = node.text ?? "";
  if (/[$<{]/.test(value)) return;
  if (!/^\d+$/.test(value)) yield { at: node, message: `"${value}" is no whole number of seconds` };
  else if (Number(value) < 600 || Number(value) > 604_800)
    yield { at: node, message: `${value} s: a flex-start node lives between 600 and 604800 s (10 minutes to 7 days)` };
}
