import type { Workload } from "../../spec/workload/index.ts";
import { labelsOf } from "../names.ts";
import { type ManifestObject, manifestObject } from "../types.ts";
import { why } from "../why.ts";
import { placementOf } from "./placement.ts";
import { resourcesOf } from "./pod.ts";

const provisioningClass = "queued-provisioning.gke.io";

/** A request for all nodes at once, and the shape of the pods it is for. */
export function provisioningRequest(workload: Workload): readonly ManifestObject[] {
  const { name, namespace, parallelism, maxRunSeconds, image } = workload;
  const { nodeSelector, tolerations } = placementOf(workload);
  const { requests, limits } = resourcesOf(workload);
  return [
    manifestObject(
      "v1",
      "PodTemplate",
      {
        name,
        namespace,
        labels: {
          ...labelsOf(workload),
          "cloud.google.com/apply-warden-policies": why(
            "the request is for pods as the cluster would admit them",
            "true",
          ),
        },
      },
      "The shape of the pods that capacity is asked for.",
      {
        template: {
          spec: {
            restartPolicy: "Never",
            nodeSelector,
            tolerations,
            containers: [
              {
                name: "main",
                image,
                // Extended resources are asked for by both, as the request is matched on what is requested.
                resources: { requests: { ...requests, ...limits }, limits },
              },
            ],
          },
        },
      },
    ),
    manifestObject(
      "autoscaling.x-k8s.io/v1",
      "ProvisioningRequest",
      { name, namespace, labels: labelsOf(workload) },
      "Asks for all nodes at once; v1beta1 on older clusters.",
      {
        spec: {
          provisioningClassName: provisioningClass,
          parameters:
            maxRunSeconds === undefined
              ? undefined
              : { maxRunDurationSeconds: why("a string, in seconds", String(maxRunSeconds)) },
          podSets: [{ count: parallelism, podTemplateRef: { name } }],
        },
      },
    ),
  ];
}

/** A queue of Kueue that asks for nodes before it starts a Job; nothing where one is named that exists. */
export function kueueObjects(workload: Workload): readonly ManifestObject[] {
  const { name, namespace, flexStart, pool, accelerator } = workload;
  if (flexStart.localQueue !== undefined) return [];
  const api = "kueue.x-k8s.io/v1beta2";
  const unique = `${namespace}-${name}`.slice(0, 63).replace(/-+$/, "");
  const resources = ["cpu", "memory", ...(accelerator ? ["nvidia.com/gpu"] : [])];
  return [
    manifestObject(api, "ResourceFlavor", { name: unique }, "The queued pool's nodes.", {
      spec: { nodeLabels: { "cloud.google.com/gke-nodepool": pool.name } },
    }),
    manifestObject(api, "ProvisioningRequestConfig", { name: unique }, "How Kueue asks for nodes.", {
      spec: {
        provisioningClassName: provisioningClass,
        managedResources: accelerator ? ["nvidia.com/gpu"] : undefined,
      },
    }),
    manifestObject(api, "AdmissionCheck", { name: unique }, "No Job starts before its nodes are there.", {
      spec: {
        controllerName: "kueue.x-k8s.io/provisioning-request",
        parameters: { apiGroup: "kueue.x-k8s.io", kind: "ProvisioningRequestConfig", name: unique },
      },
    }),
    manifestObject(api, "ClusterQueue", { name: unique }, "The quota behind the queue.", {
      spec: {
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        resourceGroups: [
          {
            coveredResources: resources,
            flavors: [{ name: unique, resources: resources.map((one) => ({ name: one, nominalQuota: "1000000000" })) }],
          },
        ],
        admissionChecksStrategy: why("no limit of its own here: capacity is the limit", {
          admissionChecks: [{ name: unique }],
        }),
      },
    }),
    manifestObject(api, "LocalQueue", { name, namespace }, "The queue that the Job names.", {
      spec: { clusterQueue: unique },
    }),
  ];
}
