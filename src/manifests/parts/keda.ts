import type { Workload } from "../../spec/workload/index.ts";
import { pubSubOf } from "../google.ts";
import { labelsOf } from "../names.ts";
import { type ManifestObject, manifestObject } from "../types.ts";
import { type Described, why } from "../why.ts";
import { jobPolicy } from "./job.ts";
import { type ManifestOptions, podTemplate } from "./pod.ts";

const api = "keda.sh/v1alpha1";

/** Who KEDA is when it asks Cloud Monitoring. */
export function triggerAuthentication({ name, namespace }: Workload): ManifestObject {
  return manifestObject(
    api,
    "TriggerAuthentication",
    { name, namespace },
    "KEDA asks Cloud Monitoring by Workload Identity of its own operator.",
    {
      spec: { podIdentity: { provider: "gcp" } },
    },
  );
}

/** Jobs by the depth of the queue: a busy worker is never taken away. */
export function scaledJob(workload: Workload, options: ManifestOptions): ManifestObject {
  const { name, namespace, parallelism, retries } = workload;
  return manifestObject(
    api,
    "ScaledJob",
    { name, namespace, labels: labelsOf(workload) },
    "Workers by the depth of the queue, each a Job that ends when all is done.",
    {
      spec: {
        jobTargetRef: {
          parallelism: 1,
          completions: 1,
          backoffLimit: why("real failures of a worker; items have attempts of their own", retries),
          ...jobPolicy({ ...workload, completions: 1 }),
          template: podTemplate(workload, options),
        },
        pollingInterval: 60,
        maxReplicaCount: parallelism,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 10,
        triggers: [trigger(workload)],
      },
    },
  );
}

/** A Deployment's size by the depth of the queue: for short items, since scaling down ends busy workers. */
export function scaledObject(workload: Workload): ManifestObject {
  const { name, namespace, parallelism } = workload;
  return manifestObject(
    api,
    "ScaledObject",
    { name, namespace, labels: labelsOf(workload) },
    "How many workers there are.",
    {
      spec: {
        scaleTargetRef: { name },
        minReplicaCount: why("an empty queue costs nothing", 0),
        maxReplicaCount: parallelism,
        cooldownPeriod: why("longer than a lease, so that a short gap ends no worker", 300),
        triggers: [trigger(workload)],
      },
    },
  );
}

function trigger(workload: Workload): Described {
  const parts = pubSubOf(workload);
  const query = `sum(pubsub_googleapis_com:subscription_num_undelivered_messages{monitored_resource="pubsub_subscription",subscription_id="${parts?.subscription ?? ""}"})`;
  return {
    type: why("the gcp-pubsub trigger is deprecated", "prometheus"),
    metadata: {
      serverAddress: `https://monitoring.googleapis.com/v1/projects/${parts?.project ?? ""}/location/global/prometheus`,
      query,
      threshold: why("items one worker is expected to get through", String(itemsPerWorker(workload))),
    },
    authenticationRef: { name: workload.name },
  };
}

function itemsPerWorker({ settings }: Workload): number {
  const number = (value: string | readonly string[] | undefined, otherwise: number) =>
    typeof value === "string" ? Number(value) : otherwise;
  return number(settings.chunk, 10) * number(settings.chunksPerWorker, 10);
}
