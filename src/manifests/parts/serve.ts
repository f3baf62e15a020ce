import type { Workload } from "../../spec/workload/index.ts";
import { labelsOf, selectorOf } from "../names.ts";
import { type ManifestObject, manifestObject } from "../types.ts";
import { why } from "../why.ts";
import { type ManifestOptions, podTemplate } from "./pod.ts";

/** A server, or workers for short items that an autoscaler adds and takes away. */
export function deployment(workload: Workload, options: ManifestOptions): ManifestObject {
  const { name, namespace, kind, parallelism } = workload;
  return manifestObject(
    "apps/v1",
    "Deployment",
    { name, namespace, labels: labelsOf(workload) },
    kind === "serve" ? "The server." : "Workers for short items; KEDA sets how many.",
    {
      spec: {
        replicas: kind === "serve" ? parallelism : undefined,
        selector: { matchLabels: selectorOf(workload) },
        strategy:
          kind === "batch"
            ? { type: why("old and new workers must not wait for each other's node", "Recreate") }
            : undefined,
        template: podTemplate(workload, options),
      },
    },
  );
}

export function service(workload: Workload): ManifestObject | undefined {
  const { name, namespace, port } = workload;
  if (port === undefined) return undefined;
  return manifestObject(
    "v1",
    "Service",
    { name, namespace, labels: labelsOf(workload) },
    "The server's address inside the cluster.",
    {
      spec: { selector: selectorOf(workload), ports: [{ name: "http", port, targetPort: "http" }] },
    },
  );
}
