import { keys } from "../facts/keys.ts";
import { tolerates } from "../placement/constraints.ts";
import type { Rule } from "../rule.ts";

export const preferredSpotWithoutToleration: Rule = {
  id: "preferred-spot-without-toleration",
  title: "Spot is preferred, but its taint is not tolerated",
  severity: "warning",
  why: "A preference does not open a tainted node. The pod never lands on the Spot pool, and on-demand prices are paid without anyone noticing.",
  fix: "Add the toleration; to have Spot tried first, use a ComputeClass with priorities.",
  sources: ["Kubernetes: taints and tolerations", "GKE: Spot VMs"],
  *template({ placement }, { supply }) {
    const liked = placement.constraints.preferred.find(
      ({ key, values }) =>
        (key === keys.spot && values.includes("true")) || (key === keys.provisioning && values.includes("spot")),
    );
    if (!liked || supply.isAutopilot) return;
    const tainted = supply.pools.filter(
      ({ capacity, taints }) => capacity === "spot" && taints.some(({ effect }) => effect !== "PreferNoSchedule"),
    );
    if (tainted.length === 0 || supply.pools.some(({ capacity, taints }) => capacity === "spot" && taints.length === 0))
      return;
    const closed = tainted.every(({ taints }) =>
      taints.some(
        (taint) =>
          taint.effect !== "PreferNoSchedule" &&
          !placement.constraints.tolerations.some((one) => tolerates(one, taint)),
      ),
    );
    const [pool] = tainted;
    if (closed && pool)
      yield {
        at: liked.span,
        message: `Spot is preferred but the taint of "${pool.name ?? "?"}" is not tolerated: no pod ever lands there`,
        related: { span: pool.span, message: "the tainted pool" },
      };
  },
};
