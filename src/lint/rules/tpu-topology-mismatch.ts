import { keys } from "../facts/keys.ts";
import { tpuChipsPerHost } from "../facts/machines.ts";
import { requested } from "../placement/pod-template.ts";
import type { Rule } from "../rule.ts";

export const tpuTopologyMismatch: Rule = {
  id: "tpu-topology-mismatch",
  title: "Topology, chips and pods of a TPU slice do not agree",
  severity: "error",
  why: "A slice has as many chips as its topology multiplies to. It is used by one pod per host, each asking for all chips of its host; with other numbers pods stay Pending or the program waits for members that never come.",
  fix: "Set parallelism to chips of the slice divided by chips of a host, and google.com/tpu to the chips of a host.",
  sources: ["GKE: TPU topologies"],
  *template({ template }) {
    const topology = template.spec.get("nodeSelector", keys.tpuTopology);
    const type = template.spec.get("nodeSelector", keys.tpuAccelerator)?.text;
    const perPod = requested(template, "google.com/tpu");
    if (!topology?.text || perPod === 0) return;
    if (!/^\d+x\d+(?:x\d+)?$/.test(topology.text)) return;
    const chips = topology.text.split("x").reduce((product, side) => product * Number(side), 1);
    const hosts = type === undefined ? undefined : tpuChipsPerHost[type];
    if (hosts && !hosts.includes(perPod) && perPod !== chips) {
      yield {
        at: topology,
        message: `a pod asks for ${perPod} chips, hosts of ${type ?? ""} have ${hosts.join(" or ")}`,
      };
      return;
    }
    const { jobSpec } = template;
    const pods = jobSpec?.get("parallelism")?.number ?? (jobSpec ? 1 : undefined);
    const indexed = jobSpec?.get("completionMode")?.text === "Indexed" || template.object.kind === "JobSet";
    if (pods === undefined || (!indexed && pods > 1) || pods * perPod === chips) return;
    yield {
      at: topology,
      message: `topology ${topology.text} has ${chips} chips, ${pods} pod${pods === 1 ? "" : "s"} with ${perPod} each use ${pods * perPod}: set parallelism to ${Math.max(1, Math.round(chips / perPod))}`,
    };
  },
};
