import { keys } from "../facts/keys.ts";
import { mostPerNode } from "../facts/machines.ts";
import { requested } from "../placement/pod-template.ts";
import { valuesFor } from "../placement/place.ts";
import type { Rule } from "../rule.ts";

export const acceleratorCountVsMachine: Rule = {
  id: "accelerator-count-vs-machine",
  title: "One pod asks for more GPUs than any node has",
  severity: "error",
  why: "A pod runs on one node. If no machine with that GPU has as many, the pod stays Pending for ever; GPUs are added up over pods, not over nodes.",
  fix: "Ask for what one machine has, and use several pods (an Indexed Job or a JobSet) for more.",
  sources: ["GKE cluster autoscaler: machine tables"],
  *template({ template, placement }) {
    const wanted = requested(template, "nvidia.com/gpu");
    const types = valuesFor(placement.constraints, keys.accelerator);
    const [type] = types;
    const most = type === undefined || types.length > 1 ? undefined : mostPerNode[type];
    if (most !== undefined && wanted > most) {
      yield {
        at: template.spec.get("nodeSelector", keys.accelerator) ?? template.spec,
        message: `one pod asks for ${wanted} GPUs, the largest machine with ${type ?? ""} has ${most}: it stays Pending`,
      };
      return;
    }
    const sized = placement.matches.filter(({ obstacles }) => obstacles.length === 1 && obstacles[0]?.kind === "size");
    const [match] = sized;
    const obstacle = match?.obstacles[0];
    if (placement.candidates.length > 0 || !match || obstacle?.kind !== "size" || obstacle.perNode === 0) return;
    yield {
      at: template.spec.entry("containers")?.key ?? template.spec,
      severity: valuesFor(placement.constraints, keys.nodePool).length > 0 ? "error" : "warning",
      message: `one pod asks for ${obstacle.wanted} GPUs, a node of the pool "${match.pool.name ?? "?"}" has ${obstacle.perNode}: it stays Pending`,
      related: { span: match.pool.span, message: "the pool" },
    };
  },
};
