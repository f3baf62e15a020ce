import { fixOf, replaceValue } from "../fix/edits.ts";
import { mainContainers } from "../placement/pod-template.ts";
import { runsOutlast } from "../placement/script.ts";
import { because, type Rule, severityBy } from "../rule.ts";

export const graceExceedsSpotWindow: Rule = {
  id: "grace-exceeds-spot-window",
  title: "A pod on Spot asks for more time than the node leaves it",
  severity: "warning",
  why: "When a Spot node is taken, the kubelet has 30 seconds in all and gives ordinary pods 15 of them. A longer terminationGracePeriodSeconds has no effect then: what is not saved by that time is cut off with SIGKILL. It still helps on drains and upgrades.",
  fix: "Save in the time that arrives, and often enough before. If a longer period is meant for drains, keep it and suppress this with that reason. Spot pools of GKE 1.35 and later can be given a window of 120 s (shutdownGracePeriodSeconds), of which the pods get what the critical ones leave.",
  sources: [
    "GKE: Spot VMs, termination and graceful shutdown",
    "Kubernetes: graceful node shutdown (kubelet nodeshutdown manager)",
  ],
  *template({ template, placement }) {
    const grace = template.spec.get("terminationGracePeriodSeconds");
    const asked = grace?.number;
    const { window, reach } = placement;
    if (!grace || asked === undefined || window === undefined || asked <= window) return;
    // outlast is told the window and keeps to it; the longer period serves drains.
    if (mainContainers(template).some(runsOutlast)) return;
    const severity = severityBy(reach.spot.verdict, { must: "warning", may: "info" });
    if (!severity) return;
    yield {
      at: grace,
      severity,
      message: `${window} s arrive of the ${asked} s you asked for when a Spot node is taken; the rest is cut off`,
      related: because(reach.spot),
      fix: fixOf("unsafe", `set it to ${window}`, replaceValue(grace, String(window))),
    };
  },
};
