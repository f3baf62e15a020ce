import { keys } from "../facts/keys.ts";
import type { Rule } from "../rule.ts";

export const jobDeadlineVsDuration: Rule = {
  id: "job-deadline-vs-duration",
  title: "The Job may run longer than its node lives",
  severity: "warning",
  why: "A flex-start node ends after its maximum run duration (7 days at most, and 7 days unless set), whatever runs on it. A Job whose deadline is later must expect to be cut off there.",
  fix: "Save before the end and let the Job resume, or ask for a longer maximum run duration.",
  sources: ["GKE: flex-start provisioning mode"],
  *template({ template, placement }) {
    const deadline = template.jobSpec?.get("activeDeadlineSeconds");
    const asked = deadline?.number;
    if (!deadline || asked === undefined || placement.reach.flexStart.verdict !== "must") return;
    const pool = placement.candidates.find((one) => one.capacity === "flexStart" && one.maxRunSeconds !== undefined);
    const rule = placement.computeClass?.rules.find(
      (one) => one.capacity === "flexStart" && one.maxRunSeconds !== undefined,
    );
    const selected = template.spec.get("nodeSelector", keys.maxRunDuration);
    const life = selected?.number ?? pool?.maxRunSeconds ?? rule?.maxRunSeconds ?? 604_800;
    if (asked <= life) return;
    const at = selected ?? pool?.span ?? rule?.node;
    yield {
      at: deadline,
      message: `the Job may run ${asked} s, its node lives ${life} s: it is cut off there`,
      related: at ? { span: at, message: "the node's maximum run duration" } : undefined,
    };
  },
};
