import { keys } from "../facts/keys.ts";
import { addEntry, addItem, fixOf } from "../fix/edits.ts";
import type { PoolMatch } from "../placement/match-pool.ts";
import type { Node } from "../source/node.ts";
import { requirementOn } from "../placement/place.ts";
import { type Fix, nameOf, type Rule } from "../rule.ts";
import type { Taint } from "../pools/pool.ts";

export const untoleratedTaint: Rule = {
  id: "untolerated-taint",
  title: "The pod selects nodes whose taint it does not tolerate",
  severity: "error",
  why: "The selector draws the pod to a pool, the pool's taint pushes it away: it stays Pending for ever. The two are often written by different people in different files.",
  fix: "Add the toleration.",
  sources: ["Kubernetes: taints and tolerations"],
  *template({ template, placement }, { supply }) {
    if (supply.isAutopilot || placement.candidates.length > 0) return;
    // Only a pool that the pod means: one it names, or one that its labels single out.
    const meant = placement.matches.filter(({ obstacles, pool }) =>
      isMeant(
        obstacles,
        pool.name,
        requirementOn(placement.constraints, keys.nodePool)?.values,
        placement.constraints.alternatives.flat().length,
      ),
    );
    if (meant.length === 0) return;
    const [match] = meant;
    for (const obstacle of match?.obstacles ?? []) {
      if (obstacle.kind !== "taint" || !obstacle.isDeclared || !match) continue;
      const { key, value, effect } = obstacle.taint;
      const isNamed = requirementOn(placement.constraints, keys.nodePool) !== undefined;
      yield {
        at: template.spec.entry("tolerations")?.key ?? template.spec.entry("nodeSelector")?.key ?? template.spec,
        severity: supply.isComplete || isNamed ? "error" : "warning",
        message: `${nameOf(template)} selects the pool "${match.pool.name ?? "?"}" but does not tolerate its taint ${key}${value ? `=${value}` : ""}:${effect}: it stays Pending`,
        related: { span: match.pool.span, message: "the pool with the taint" },
        fix: addToleration(template.spec, obstacle.taint),
      };
    }
  },
};

function isMeant(
  obstacles: PoolMatch["obstacles"],
  name: string | undefined,
  named: readonly string[] | undefined,
  demands: number,
): boolean {
  if (obstacles.length === 0 || obstacles.some(({ kind }) => kind !== "taint")) return false;
  return named ? name !== undefined && named.includes(name) : demands > 0;
}

/** Adds a toleration of exactly this taint. */
function addToleration(spec: Node, { key, value, effect }: Taint): Fix | undefined {
  const item = value
    ? `{key: ${key}, operator: Equal, value: "${value}", effect: ${effect}}`
    : `{key: ${key}, operator: Exists, effect: ${effect}}`;
  const list = spec.get("tolerations");
  const edit =
    list && list.items.length > 0
      ? addItem(list, item)
      : list
        ? undefined
        : addEntry(spec, "tolerations", `\n- ${item}`);
  return fixOf("safe", "add the toleration", edit);
}
