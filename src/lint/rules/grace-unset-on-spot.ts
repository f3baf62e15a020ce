import { addEntry, fixOf } from "../fix/edits.ts";
import { mainContainers } from "../placement/pod-template.ts";
import { runsOutlast } from "../placement/script.ts";
import { because, type Rule } from "../rule.ts";

export const graceUnsetOnSpot: Rule = {
  id: "grace-unset-on-spot",
  title: "A pod on Spot leaves its grace period to the default of 30 s",
  severity: "info",
  why: "The default promises 30 seconds; on a Spot node that is taken, 15 arrive. A program that plans for 30 is killed halfway through its save.",
  fix: "Write the period that you plan for, so that the program and its readers agree.",
  sources: ["GKE: Spot VMs, termination and graceful shutdown"],
  *template({ template, placement }) {
    const { window, reach } = placement;
    if (reach.spot.verdict !== "must" || window === undefined || window >= 30) return;
    if (template.nature === "daemon" || template.spec.get("terminationGracePeriodSeconds")) return;
    if (mainContainers(template).some(runsOutlast)) return;
    yield {
      at: template.spec.entries[0]?.key ?? template.spec,
      message: `no terminationGracePeriodSeconds: the default says 30 s, ${window} s arrive when a Spot node is taken`,
      related: because(reach.spot),
      fix: fixOf(
        "unsafe",
        `set it to ${window}`,
        addEntry(template.spec, "terminationGracePeriodSeconds", String(window)),
      ),
    };
  },
};
