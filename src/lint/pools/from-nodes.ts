import type { Node } from "../source/node.ts";
import { emptyPool, kubeEffect, type Pool, seconds, type Taint } from "./pool.ts";

/** Whether a JSON or YAML root is what `gcloud container node-pools list --format=json` prints. */
export function isPoolList(root: Node | undefined): boolean {
  const first = root?.kind === "list" ? root.items[0] : undefined;
  return first?.get("name")?.string !== undefined && first.get("config", "machineType") !== undefined;
}

/** Pools as the API tells them. */
export function readPoolList(root: Node): Pool[] {
  return root.items
    .filter((item) => item.get("config"))
    .map((item) => {
      const config = item.get("config");
      const scaling = item.get("autoscaling");
      const gpu = config?.get("accelerators")?.items[0];
      const type = gpu?.get("acceleratorType")?.text;
      const isSpot = config?.get("spot")?.isTrue === true;
      const isPreemptible = config?.get("preemptible")?.isTrue === true;
      const isQueued = item.get("queuedProvisioning", "enabled")?.isTrue === true;
      const isFlex = config?.get("flexStart")?.isTrue === true || isQueued;
      const kubelet = config?.get("kubeletConfig");
      const total = kubelet?.get("shutdownGracePeriodSeconds")?.number;
      const reservation = config?.get("reservationAffinity", "consumeReservationType")?.text;
      return {
        ...emptyPool("list", item),
        name: item.get("name")?.text,
        capacity: isSpot || isPreemptible ? "spot" : isFlex ? "flexStart" : "onDemand",
        isPreemptible,
        isQueued,
        labels: config?.get("labels")?.record ?? {},
        taints: taintsOf(config?.get("taints")),
        machineType: config?.get("machineType")?.text,
        accelerator: type ? { type, count: gpu?.get("acceleratorCount")?.number } : undefined,
        tpuTopology: item.get("placementPolicy", "tpuTopology")?.text,
        minNodes: scaling?.get("totalMinNodeCount")?.number ?? scaling?.get("minNodeCount")?.number,
        maxNodes: scaling?.get("totalMaxNodeCount")?.number,
        hasAutoscaling: scaling?.get("enabled")?.isTrue === true,
        hasAutoRepair: item.get("management", "autoRepair")?.isTrue === true,
        usesReservation: reservation ? reservation !== "NO_RESERVATION" : undefined,
        maxRunSeconds: seconds(config?.get("maxRunDuration")?.text),
        shutdownGrace:
          total === undefined
            ? undefined
            : { total, critical: kubelet?.get("shutdownGracePeriodCriticalPodsSeconds")?.number ?? 15 },
      };
    });
}

/** Whether a root is a hand-written list of pools: `pools:` and no kind. */
export function isPoolsFile(root: Node | undefined): boolean {
  return root?.kind === "map" && root.get("pools")?.kind === "list" && !root.get("kind");
}

/** Pools of a hand-written pools.yaml. */
export function readPoolsFile(root: Node): Pool[] {
  return (root.get("pools")?.items ?? []).map((item) => {
    const kind =
      item.get("capacity")?.text ??
      (item.get("spot")?.isTrue ? "spot" : item.get("flexStart")?.isTrue ? "flex-start" : "on-demand");
    const type = item.get("accelerator", "type")?.text;
    const window = item.get("shutdownGrace", "total")?.number;
    return {
      ...emptyPool("pools.yaml", item),
      name: item.get("name")?.text,
      capacity:
        kind === "spot" || kind === "preemptible"
          ? "spot"
          : kind === "flex-start"
            ? "flexStart"
            : kind === "on-demand"
              ? "onDemand"
              : undefined,
      isPreemptible: kind === "preemptible",
      isQueued: item.get("queued")?.isTrue === true,
      labels: item.get("labels")?.record ?? {},
      taints: taintsOf(item.get("taints")),
      machineType: item.get("machineType")?.text,
      accelerator: type ? { type, count: item.get("accelerator", "count")?.number } : undefined,
      tpuTopology: item.get("tpuTopology")?.text,
      maxNodes: item.get("maxNodes")?.number,
      minNodes: item.get("minNodes")?.number,
      staticNodes: item.get("nodes")?.number,
      maxRunSeconds: seconds(item.get("maxRunDuration")?.text),
      shutdownGrace:
        window === undefined
          ? undefined
          : { total: window, critical: item.get("shutdownGrace", "critical")?.number ?? 15 },
    };
  });
}

function taintsOf(list: Node | undefined): Taint[] {
  return (list?.items ?? []).flatMap((item) => {
    if (item.kind === "map") {
      const key = item.get("key")?.text;
      return key
        ? [{ key, value: item.get("value")?.text ?? "", effect: kubeEffect(item.get("effect")?.text ?? "NoSchedule") }]
        : [];
    }
    const found = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(item.text ?? "");
    return found ? [{ key: found[1] ?? "", value: found[2] ?? "", effect: found[3] ?? "" }] : [];
  });
}
