import { keys } from "../facts/keys.ts";
import { nearest } from "../facts/near.ts";
import { fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

/** Taints that GKE or Kubernetes puts on nodes. */
const knownTaints: readonly string[] = [
  keys.spot,
  keys.flexStart,
  keys.queued,
  keys.computeClass,
  keys.preemptible,
  "nvidia.com/gpu",
  "google.com/tpu",
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  "node.kubernetes.io/memory-pressure",
  "node.kubernetes.io/disk-pressure",
  "node.kubernetes.io/pid-pressure",
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/network-unavailable",
  "node.cloudprovider.kubernetes.io/uninitialized",
  "kubernetes.io/arch",

  "cloud.google.com/impending-node-termination",
  "cloud.google.com/gke-accelerator",
  "components.gke.io/gke-managed-components",

  "node.cloudprovider.kubernetes.io/shutdown",
  "node-role.kubernetes.io/control-plane",
  "node-role.kubernetes.io/master",
];

export const deadToleration: Rule = {
  id: "dead-toleration",
  title: "A toleration that no taint answers to",
  severity: "warning",
  why: "A toleration with a misspelt key, or with another value or effect than the taint, tolerates nothing: the pod is kept off the nodes it was written for.",
  fix: "Write the key, value and effect as the pool's taint has them.",
  sources: ["Kubernetes: taints and tolerations", "GKE: labels and taints of node pools"],
  *template({ placement }, { supply }) {
    const declared = supply.pools.flatMap(({ taints }) => taints);
    const all = [...new Set([...knownTaints, ...declared.map(({ key }) => key)])];
    for (const { key, operator, value, effect, node } of placement.constraints.tolerations) {
      const at = node.get("key");
      if (!key || !at) continue;
      if (!all.includes(key)) {
        const near = nearest(key, all, 2);
        if (near) {
          yield {
            at,
            message: `no taint is called "${key}"; did you mean "${near}"? As written it tolerates nothing`,
            fix: fixOf("safe", `write ${near}`, replaceValue(at, near)),
          };
        }
        continue;
      }
      const same = declared.filter((taint) => taint.key === key);
      if (same.length === 0 || !supply.pools.every(({ hasAllLabels }) => hasAllLabels)) continue;
      if (
        same.some((taint) => (operator === "Exists" || taint.value === value) && (!effect || effect === taint.effect))
      )
        continue;
      const [taint] = same;
      const pool = supply.pools.find(({ taints }) => taint && taints.includes(taint));
      if (!taint || !pool) continue;
      yield {
        at,
        message: `the taint is ${taint.key}=${taint.value}:${taint.effect}, this tolerates ${operator === "Exists" ? "any value" : `"${value}"`}${effect ? ` with ${effect}` : ""}: it has no effect`,
        related: { span: pool.span, message: `the pool "${pool.name ?? "?"}" with the taint` },
      };
    }
  },
};
