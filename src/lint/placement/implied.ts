import { keys } from "../facts/keys.ts";
import { type Capacity, capacities } from "../pools/pool.ts";
import type { Span } from "../source/source-file.ts";
import type { Constraints, Requirement } from "./constraints.ts";

/** Capacities that the labels GKE itself sets leave open; undefined when they say nothing. */
export function impliedBy({
  alternatives,
}: Constraints): { set: Set<Capacity>; why: string; at: Span | undefined } | undefined {
  const set = new Set<Capacity>();
  let decisive: Requirement | undefined;
  for (const requirements of alternatives) {
    let left = new Set<Capacity>(capacities);
    for (const requirement of requirements) {
      const allowed = allowedBy(requirement);
      if (!allowed) continue;
      decisive ??= requirement;
      left = new Set([...left].filter((capacity) => allowed.has(capacity)));
    }
    for (const capacity of left) set.add(capacity);
  }
  if (!decisive || set.size === capacities.length || set.size === 0) return undefined;
  return { set, why: `it selects ${decisive.key}`, at: decisive.span };
}

/** Capacities that one demand leaves open; undefined when it says nothing about them. */
export function allowedBy({ key, operator, values }: Requirement): Set<Capacity> | undefined {
  const own: Record<string, Capacity> = {
    [keys.spot]: "spot",
    [keys.preemptible]: "spot",
    [keys.flexStart]: "flexStart",
  };
  const capacity = own[key];
  if (capacity) {
    const isFor = operator === "Exists" || (operator === "In" && values.includes("true"));
    const isAgainst = operator === "DoesNotExist" || (operator === "NotIn" && values.includes("true"));
    if (isFor) return new Set([capacity]);
    // A node without gke-preemptible can still be a Spot node.
    return isAgainst && key !== keys.preemptible ? new Set(capacities.filter((one) => one !== capacity)) : undefined;
  }
  if (key !== keys.provisioning) return undefined;
  const names: Record<string, Capacity> = {
    spot: "spot",
    preemptible: "spot",
    "flex-start": "flexStart",
    standard: "onDemand",
  };
  const listed = new Set(values.flatMap((value) => names[value] ?? []));
  if (operator === "In" && listed.size > 0) return listed;
  if (operator === "NotIn" && values.includes("spot")) return new Set(capacities.filter((one) => !listed.has(one)));
  return undefined;
}
