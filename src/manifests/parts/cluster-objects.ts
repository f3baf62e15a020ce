import type { PvcStorage, Workload } from "../../spec/workload/index.ts";
import { googleAccountOf } from "../google.ts";
import { labelsOf, priorityClassName, selectorOf } from "../names.ts";
import { type ManifestObject, manifestObject } from "../types.ts";
import { why } from "../why.ts";

/** The name of the StorageClass for disks in two zones. */
const regionalClass = "outlast-regional-pd";

export function namespaceObject({ namespace }: Workload): ManifestObject | undefined {
  if (namespace === "default") return undefined;
  return manifestObject("v1", "Namespace", { name: namespace }, "Where everything below lives.", {});
}

export function serviceAccount(workload: Workload): ManifestObject {
  const google = googleAccountOf(workload);
  return manifestObject(
    "v1",
    "ServiceAccount",
    {
      name: workload.serviceAccount.name,
      namespace: workload.namespace,
      ...(google === undefined
        ? {}
        : {
            annotations: { "iam.gke.io/gcp-service-account": why("Workload Identity: no key file, no Secret", google) },
          }),
    },
    "Who the pods are.",
    {},
  );
}

export function priorityClass({ priority, cluster }: Workload): ManifestObject | undefined {
  if (priority === 0) return undefined;
  return manifestObject(
    "scheduling.k8s.io/v1",
    "PriorityClass",
    { name: priorityClassName(priority) },
    "How the pods stand against others.",
    {
      value: why(
        priority < 0 && cluster.mode === "standard"
          ? "gives way to ordinary pods; below -10 a Standard cluster adds no node for it"
          : "higher values go first",
        priority,
      ),
      preemptionPolicy: why("waits for room instead of evicting others", "Never"),
      globalDefault: false,
      description: "Work that outlast resumes.",
    },
  );
}

/** Claims that are to be made, and the StorageClass of those that live in two zones. */
export function storageObjects(workload: Workload): readonly ManifestObject[] {
  const claims = workload.storage.filter((one): one is PvcStorage => one.type === "pvc" && one.size !== undefined);
  const needsClass = claims.some(({ regional }) => regional);
  return [
    ...(needsClass ? [regionalStorageClass()] : []),
    ...claims.map(({ name, size = "", access, regional, storageClass }) =>
      manifestObject(
        "v1",
        "PersistentVolumeClaim",
        { name, namespace: workload.namespace, labels: labelsOf(workload) },
        `The volume ${name}.`,
        {
          spec: {
            accessModes: [access],
            storageClassName: regional
              ? why("a disk in two zones: its pod can move to the other", regionalClass)
              : storageClass,
            resources: { requests: { storage: size } },
          },
        },
      ),
    ),
  ];
}

function regionalStorageClass(): ManifestObject {
  return manifestObject("storage.k8s.io/v1", "StorageClass", { name: regionalClass }, "Disks that live in two zones.", {
    provisioner: "pd.csi.storage.gke.io",
    parameters: { type: "pd-balanced", "replication-type": "regional-pd" },
    volumeBindingMode: why("the zones are those of the node that the first pod gets", "WaitForFirstConsumer"),
    allowVolumeExpansion: true,
  });
}

/** A budget where one can work: an integer, since a Job has no scale that a percentage could be taken of. */
export function disruptionBudget(workload: Workload): ManifestObject | undefined {
  const { minAvailable, kind, parallelism, name, namespace } = workload;
  const least = minAvailable ?? (kind === "serve" && parallelism > 1 ? parallelism - 1 : undefined);
  if (least === undefined) return undefined;
  return manifestObject(
    "policy/v1",
    "PodDisruptionBudget",
    { name, namespace, labels: labelsOf(workload) },
    "Limits drains and upgrades; a preemption asks no budget.",
    {
      spec: {
        minAvailable:
          kind === "serve"
            ? least
            : why("a whole number: percentages and maxUnavailable cannot be computed for a Job", least),
        selector: { matchLabels: selectorOf(workload) },
      },
    },
  );
}

/** Names for the shards to find each other by. */
export function shardService(workload: Workload): ManifestObject | undefined {
  const { kind, completions, pods, name, namespace } = workload;
  if (kind !== "train" || completions === 1 || pods !== "shards") return undefined;
  return manifestObject(
    "v1",
    "Service",
    { name, namespace, labels: labelsOf(workload) },
    `Names for the shards: ${name}-0.${name}, ${name}-1.${name} …`,
    {
      spec: {
        clusterIP: why("no balancing: every pod by its own name", "None"),
        publishNotReadyAddresses: why("shards look for each other before they are ready", true),
        selector: selectorOf(workload),
      },
    },
  );
}
