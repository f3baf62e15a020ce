import { keys } from "../facts/keys.ts";
import type { Obstacle } from "../placement/match-pool.ts";
import { requirementOn } from "../placement/place.ts";
import { nameOf, type Rule } from "../rule.ts";

export const noPoolMatches: Rule = {
  id: "no-pool-matches",
  title: "No declared pool can take this pod",
  severity: "error",
  why: "Selectors, taints and sizes together leave no pool. The pod stays Pending for ever and no alert fires, because nothing fails.",
  fix: "Bring the selector, the tolerations or the request in line with a pool; the message names the nearest one and what is off.",
  sources: ["Kubernetes: assigning pods to nodes, taints and tolerations"],
  *template({ template, placement }, { supply }) {
    if (!supply.isComplete || supply.hasAutoProvisioning || supply.isAutopilot || placement.className !== undefined)
      return;
    if (placement.matches.length === 0 || placement.candidates.length > 0) return;
    // A pool that is missing altogether, or a single taint on the one that is meant, are told by rules of their own.
    const named = requirementOn(placement.constraints, keys.nodePool);
    if (named && !placement.matches.some(({ pool }) => pool.name !== undefined && named.values.includes(pool.name)))
      return;
    const nearest = placement.matches.toSorted((a, b) => a.obstacles.length - b.obstacles.length)[0];
    if (!nearest || (nearest.obstacles.length === 1 && nearest.obstacles[0]?.kind === "taint")) return;
    const [first] = nearest.obstacles;
    const at = first?.kind === "label" ? first.requirement.span : (template.spec.entries[0]?.key ?? template.spec);
    yield {
      at,
      message: `none of the ${placement.matches.length} pools can take ${nameOf(template)}; nearest is "${nearest.pool.name ?? "?"}": ${nearest.obstacles.map(tell).join(", ")}`,
      related: { span: nearest.pool.span, message: "the nearest pool" },
    };
  },
};

function tell(obstacle: Obstacle): string {
  if (obstacle.kind === "label") {
    const { key, operator, values } = obstacle.requirement;
    return `it has ${obstacle.has === undefined ? `no label ${key}` : `${key}=${obstacle.has}`}, wanted ${operator === "In" ? values.join(" or ") : `${operator} ${values.join(", ")}`}`;
  }
  if (obstacle.kind === "taint")
    return `its taint ${obstacle.taint.key}=${obstacle.taint.value}:${obstacle.taint.effect} is not tolerated`;
  return `the pod asks for ${obstacle.wanted} GPUs, a node has ${obstacle.perNode}`;
}
