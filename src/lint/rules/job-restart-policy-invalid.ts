import { addEntry, fixOf, replaceValue } from "../fix/edits.ts";
import type { Rule } from "../rule.ts";

export const jobRestartPolicyInvalid: Rule = {
  id: "job-restart-policy-invalid",
  title: "A Job's pods must not restart always",
  severity: "error",
  why: "The API server refuses a Job whose pods have restartPolicy Always, which is also what an unset one means.",
  fix: "Set restartPolicy: Never, which podFailurePolicy needs as well.",
  sources: ["Kubernetes: Jobs, pod template"],
  *template({ template }) {
    const { object, jobSpec, spec } = template;
    if (!jobSpec || object.kind === "JobSet" || jobSpec.get("podFailurePolicy")) return;
    const restart = spec.get("restartPolicy");
    if (restart && restart.text !== "Always") return;
    yield {
      at: restart ?? spec.entries[0]?.key ?? spec,
      message: `restartPolicy is ${restart ? "Always" : "not set, which means Always"}: the API server refuses the Job`,
      fix: fixOf(
        "unsafe",
        "set restartPolicy: Never",
        restart ? replaceValue(restart, "Never") : addEntry(spec, "restartPolicy", "Never"),
      ),
    };
  },
};
