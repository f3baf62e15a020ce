import { addEntry, fixOf } from "../fix/edits.ts";
import { mainContainers } from "../placement/pod-template.ts";
import type { Rule } from "../rule.ts";

export const gpuLimitDiffers: Rule = {
  id: "gpu-limit-differs",
  title: "An accelerator is requested in a way that the API server refuses",
  severity: "error",
  why: "GPUs and TPUs are whole things: they must stand under limits, a request must equal the limit, and parts of one cannot be asked for.",
  fix: "Put the number under limits; leave it out of requests or make it equal.",
  sources: ["Kubernetes: schedule GPUs; extended resources"],
  *template({ template }) {
    for (const { node } of mainContainers(template)) {
      const resources = node.get("resources");
      for (const name of ["nvidia.com/gpu", "google.com/tpu"]) {
        const limit = resources?.get("limits", name);
        const request = resources?.get("requests", name);
        const limits = resources?.get("limits");
        if (request && !limit) {
          const edit = limits
            ? addEntry(limits, name, request.text ?? "1")
            : resources
              ? addEntry(resources, "limits", `\n${name}: ${request.text ?? "1"}`)
              : undefined;
          yield {
            at: request,
            message: `${name} is requested without a limit: the API server refuses it`,
            fix: fixOf("safe", "add the limit", edit),
          };
        } else if (request && limit && request.text !== limit.text)
          yield {
            at: request,
            message: `${name}: ${request.text ?? ""} requested, limit ${limit.text ?? ""}; they must be equal`,
          };
        if (limit?.number !== undefined && !Number.isInteger(limit.number))
          yield { at: limit, message: `${name}: ${limit.text ?? ""} is no whole number` };
      }
    }
  },
};
