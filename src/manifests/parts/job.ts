import type { Workload } from "../../spec/workload/index.ts";
import { labelsOf } from "../names.ts";
import { type ManifestObject, manifestObject } from "../types.ts";
import { type Described, why } from "../why.ts";
import { type ManifestOptions, podTemplate } from "./pod.ts";

/** The Job of a training run or of workers that end when their queue is drained. */
export function job(workload: Workload, options: ManifestOptions): ManifestObject {
  const { name, namespace, kind, capacity, flexStart } = workload;
  const usesKueue = capacity[0] === "flex-start" && capacity.length === 1 && flexStart.mode === "kueue";
  const annotations = {
    ...(workload.deadline === undefined
      ? {}
      : { "outlast.dev/deadline": why("for people and `outlast plan`: no Job is ended by it", workload.deadline) }),
    ...(workload.budget === undefined ? {} : { "outlast.dev/budget": workload.budget }),
    ...(usesKueue && workload.maxRunSeconds !== undefined
      ? {
          "provreq.kueue.x-k8s.io/maxRunDurationSeconds": why(
            "Kueue copies it from the Job, never from the pod",
            String(workload.maxRunSeconds),
          ),
        }
      : {}),
  };
  return manifestObject(
    "batch/v1",
    "Job",
    {
      name,
      namespace,
      labels: {
        ...labelsOf(workload),
        ...(usesKueue ? { "kueue.x-k8s.io/queue-name": flexStart.localQueue ?? name } : {}),
      },
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    kind === "train"
      ? trainingPurpose(workload)
      : "Workers that take items from the queue until every one of them is done or dead.",
    {
      spec: {
        suspend: usesKueue ? why("Kueue starts it once the capacity is there", true) : undefined,
        ...shape(workload),
        ...jobPolicy(workload),
        template: podTemplate(workload, options),
      },
    },
  );
}

function trainingPurpose({ completions, pods }: Workload): string {
  if (completions === 1) return "The training run: evicted and resumed until it is finished.";
  return pods === "shards"
    ? "The training run: all shards stop, resume and finish together."
    : "Independent runs, one for each index.";
}

function shape({ kind, parallelism, completions, pods, retries }: Workload): {
  readonly [key: string]: Described | undefined;
} {
  if (kind === "batch") {
    return {
      parallelism,
      // No completions: the first worker that exits 0 says that the queue is drained, and none is started after it.
      backoffLimit: why("real failures of workers; items have attempts of their own", retries),
    };
  }
  if (completions === 1)
    return {
      parallelism: 1,
      completions: 1,
      backoffLimit: why("real failures; evictions are forgiven below", retries),
    };
  return {
    completionMode: why("every pod has an index that stays the same when it is replaced", "Indexed"),
    completions,
    parallelism,
    ...(pods === "independent"
      ? { backoffLimitPerIndex: why("real failures of one run; the others go on", retries) }
      : { backoffLimit: why("real failures of any shard; evictions are forgiven below", retries) }),
  };
}

/** What is forgiven, what is counted and what ends the Job; the order matters, the first rule that matches decides. */
export function jobPolicy({ kind, completions, pods }: Workload): { readonly [key: string]: Described } {
  const fail = completions > 1 && pods === "independent" ? "FailIndex" : "FailJob";
  return {
    podReplacementPolicy: why("no second pod while the first still stops", "Failed"),
    podFailurePolicy: {
      rules: [
        why("the node was preempted, drained or shut down: not a failure", {
          action: "Ignore",
          onPodConditions: [{ type: "DisruptionTarget" }],
        }),
        why("outlast says: evicted, resume me. The condition above can be missing after a crash", {
          action: "Ignore",
          onExitCodes: { containerName: "main", operator: "In", values: [75] },
        }),
        ...(kind === "train"
          ? [
              why(
                "nothing good to restore (76), or another Job took this run over (77): if forgiven, the two would fence each other for ever",
                {
                  action: fail,
                  onExitCodes: { containerName: "main", operator: "In", values: [76, 77] },
                },
              ),
            ]
          : []),
      ],
    },
  };
}
