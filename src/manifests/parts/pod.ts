import type { Workload } from "../../spec/workload/index.ts";
import { copiesOutlast, labelsOf, priorityClassName } from "../names.ts";
import { type Described, why } from "../why.ts";
import { binMount, commandLine } from "./command-line.ts";
import { environmentOf } from "./environment.ts";
import { placementOf } from "./placement.ts";
import { usesFuse, volumesOf } from "./volumes.ts";

/** How manifests are made, besides what the spec says. */
export interface ManifestOptions {
  /** The image of outlast that is copied from where the spec names none. */
  readonly outlastImage: string;
}

/** Where the image of outlast keeps its executable. */
const executable = "/usr/local/bin/outlast";

/** The pod template of a workload. */
export function podTemplate(workload: Workload, options: ManifestOptions): { readonly [key: string]: Described } {
  const annotations = annotationsOf(workload);
  return {
    metadata: { labels: labelsOf(workload), ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
    spec: podSpec(workload, options),
  };
}

function annotationsOf(workload: Workload): { readonly [key: string]: Described } {
  const { kind, capacity, cluster, flexStart, name } = workload;
  const isQueued = capacity[0] === "flex-start" && capacity.length === 1 && flexStart.mode === "queued";
  const isSpotOnAutopilot = cluster.mode === "autopilot" && capacity.includes("spot");
  return {
    ...(usesFuse(workload) ? { "gke-gcsfuse/volumes": why("injects the FUSE sidecar", "true") } : {}),
    ...(kind === "train" && !isSpotOnAutopilot
      ? {
          "cluster-autoscaler.kubernetes.io/safe-to-evict": why(
            "the autoscaler must not move a running trainer to save a node; it never stops a preemption",
            "false",
          ),
        }
      : {}),
    ...(kind === "batch"
      ? {
          "cluster-autoscaler.kubernetes.io/safe-to-evict": why(
            "work is handed back in seconds; local volumes must not keep a node alive",
            "true",
          ),
        }
      : {}),
    ...(isQueued
      ? {
          "autoscaling.x-k8s.io/consume-provisioning-request": why(
            "the capacity that was asked for, all at once",
            name,
          ),
          "autoscaling.x-k8s.io/provisioning-class-name": "queued-provisioning.gke.io",
        }
      : {}),
  };
}

function podSpec(workload: Workload, options: ManifestOptions): { readonly [key: string]: Described | undefined } {
  const { kind, workers, priority, serviceAccount, graceSeconds, user } = workload;
  const { nodeSelector, tolerations } = placementOf(workload);
  const { volumes } = volumesOf(workload);
  const restarts = kind === "serve" || workers === "deployment";
  const isGang = kind === "train" && workload.completions > 1 && workload.pods === "shards";
  return {
    restartPolicy: restarts ? undefined : why("required by podFailurePolicy; the Job makes the next pod", "Never"),
    serviceAccountName: serviceAccount.name,
    priorityClassName: priority === 0 ? undefined : priorityClassName(priority),
    subdomain: isGang ? why("gives each shard a name that stays: NAME-INDEX.NAME", workload.name) : undefined,
    terminationGracePeriodSeconds: why(graceReason(workload), graceSeconds),
    nodeSelector: Object.keys(nodeSelector).length > 0 ? nodeSelector : undefined,
    tolerations: tolerations.length > 0 ? tolerations : undefined,
    securityContext: {
      ...(user === undefined
        ? {}
        : {
            runAsNonRoot: true,
            runAsUser: user,
            runAsGroup: user,
            fsGroup: why("volumes are writable by the user", user),
          }),
      seccompProfile: { type: "RuntimeDefault" },
    },
    initContainers: copiesOutlast(workload) ? [copyContainer(workload, options)] : undefined,
    containers: [mainContainer(workload)],
    volumes: volumes.length > 0 ? volumes : undefined,
  };
}

function graceReason({ capacity, pool, graceSeconds }: Workload): string {
  if (!capacity.includes("spot")) return "how long a drain waits; there is no shorter window on this capacity";
  const given = `on a preemption ${pool.spotWindow} s arrive at most`;
  return graceSeconds === pool.spotWindow ? `${given}; asking for more buys nothing` : given;
}

const locked = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };

function copyContainer({ outlast }: Workload, options: ManifestOptions): Described {
  return why("brings outlast into the pod: your image needs neither Node nor outlast", {
    name: "outlast",
    image: outlast.image ?? options.outlastImage,
    command: ["cp", executable, `${binMount}/outlast`],
    resources: { requests: { cpu: "100m", memory: "64Mi" } },
    securityContext: locked,
    volumeMounts: [{ name: "outlast-bin", mountPath: binMount }],
  });
}

function mainContainer(workload: Workload): Described {
  const { image, port, kind } = workload;
  const { command, args } = commandLine(workload);
  const env = environmentOf(workload);
  const { mounts } = volumesOf(workload);
  const resources = resourcesOf(workload);
  return {
    name: "main",
    image,
    command: kind === "serve" ? listed(command) : why("exec form, no shell: SIGTERM must reach outlast", command),
    args: listed(args),
    env: env.length > 0 ? env : undefined,
    ports: kind === "serve" && port !== undefined ? [{ name: "http", containerPort: port }] : undefined,
    resources: Object.keys(resources).length > 0 ? { ...resources } : undefined,
    securityContext: locked,
    volumeMounts: mounts.length > 0 ? mounts : undefined,
  };
}

function listed(words: readonly string[]): readonly string[] | undefined {
  return words.length > 0 ? words : undefined;
}

/** What a pod asks for. */
export interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

/** What a pod asks for; a GPU is asked for by its limit. */
export function resourcesOf({ accelerator, resources: { cpu, memory } }: Workload): Resources {
  const requests = { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
  return {
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
    ...(accelerator ? { limits: { "nvidia.com/gpu": String(accelerator.count) } } : {}),
  };
}
