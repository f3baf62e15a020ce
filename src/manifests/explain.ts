import type { Workload } from "../spec/workload/index.ts";

/** One thing that can happen to a workload, and what then follows. */
export interface Happening {
  readonly what: string;
  /** What is known before, and how long it leaves. */
  readonly notice: string;
  readonly restartedBy: string;
  readonly resumesFrom: string;
  readonly delay: string;
  /** Whose budget of failures is charged. */
  readonly pays: string;
}

/** For this workload: what happens, who restarts it, from where, after which delay, and whose budget pays. */
export function explainWorkload(workload: Workload): readonly Happening[] {
  return workload.kind === "serve" ? serving(workload) : working(workload);
}

function working(workload: Workload): readonly Happening[] {
  const { capacity, pool, graceSeconds, kind, workers } = workload;
  const resume = resumption(workload);
  const restartedBy = kind === "batch" && workers === "deployment" ? "the Deployment" : "the Job";
  const again =
    restartedBy === "the Job"
      ? "10 s, doubling to 10 min while nothing succeeds, then until a node is there"
      : "at once, then until a node is there";
  const nobody = "nobody: forgiven (DisruptionTarget, exit 75)";
  const forgiven = { restartedBy, ...resume, delay: again, pays: restartedBy === "the Job" ? nobody : "nobody" };
  const isGang = kind === "train" && workload.completions > 1 && workload.pods === "shards";
  return [
    ...(capacity.includes("spot")
      ? [
          {
            what: "preemption (Spot)",
            notice: `SIGTERM, ${Math.min(graceSeconds, pool.spotWindow)} s, best effort; a host that crashes gives none`,
            ...forgiven,
          },
        ]
      : []),
    { what: "drain, upgrade", notice: `SIGTERM, ${graceSeconds} s`, ...forgiven },
    ...expiry(workload, forgiven),
    scaleDown(workload, forgiven),
    ...(isGang
      ? [
          {
            what: "another shard goes",
            notice: "seen in the run's log within 10 s",
            ...forgiven,
            resumesFrom: "the newest checkpoint all shards have",
          },
        ]
      : []),
    {
      what: "out of memory",
      notice: "none",
      restartedBy,
      resumesFrom: resume.resumesFrom,
      delay: again,
      pays: failureBudget(workload),
    },
    {
      what: "bug: the program exits with an error",
      notice: "none",
      restartedBy,
      resumesFrom: resume.resumesFrom,
      delay: again,
      pays: failureBudget(workload),
    },
    ...(kind === "train"
      ? [
          {
            what: "no checkpoint verifies (76), or another Job took the run over (77)",
            notice: "none",
            restartedBy: "nobody",
            resumesFrom: "nothing: starting over silently would hide the loss",
            delay: "until somebody looks",
            pays:
              workload.completions > 1 && workload.pods === "independent"
                ? "that index fails, the others go on"
                : "the Job fails",
          },
        ]
      : []),
    {
      what: "no capacity",
      notice: "pods stay Pending",
      restartedBy: "the autoscaler, as soon as there is a node",
      resumesFrom: resume.resumesFrom,
      delay:
        capacity.length > 1
          ? `a rule that cannot be met is passed over for about 5 min: ${capacity.join(", then ")}`
          : "until there is some",
      pays: "nobody",
    },
  ];
}

function resumption({ kind, checkpoint, settings }: Workload): { readonly resumesFrom: string } {
  if (kind === "train") return { resumesFrom: `the newest good checkpoint in ${checkpoint?.store ?? "the store"}` };
  return {
    resumesFrom: `the queue: unfinished items are handed back, those of a lost worker after ${typeof settings.lease === "string" ? settings.lease : "30s"}`,
  };
}

function failureBudget({ kind, retries, completions, pods, workers }: Workload): string {
  if (kind === "batch") {
    return workers === "deployment"
      ? "the item's attempts; an item that ends its worker twice is tried alone"
      : `one of the Job's ${retries} retries; the item's attempts only where it failed`;
  }
  return completions > 1 && pods === "independent"
    ? `one of the index's ${retries} retries`
    : `one of the Job's ${retries} retries`;
}

function expiry(workload: Workload, forgiven: Omit<Happening, "what" | "notice">): readonly Happening[] {
  const { capacity, maxRunSeconds, flexStart } = workload;
  if (!capacity.includes("flex-start") && maxRunSeconds === undefined) return [];
  const life = maxRunSeconds === undefined ? "7 days" : `${Math.round((maxRunSeconds / 3600) * 10) / 10} h`;
  const isQueued = capacity.length === 1 && flexStart.mode !== "plain";
  return [
    {
      what: `node expiry (after ${life})`,
      notice:
        "outlast.dev/stop-at on the pod, where `outlast watch` or somebody writes it: save, commit, leave; else how long it leaves is not documented",
      ...forgiven,
      delay: isQueued ? "a new ProvisioningRequest is needed first" : forgiven.delay,
    },
  ];
}

function scaleDown({ kind, workers, graceSeconds }: Workload, forgiven: Omit<Happening, "what" | "notice">): Happening {
  const what = "scale-down";
  if (kind === "train")
    return {
      what,
      notice: "does not happen while it runs (safe-to-evict: false)",
      restartedBy: "-",
      resumesFrom: "-",
      delay: "-",
      pays: "-",
    };
  if (workers === "deployment")
    return { what, notice: `SIGTERM, ${graceSeconds} s`, ...forgiven, restartedBy: "nobody: fewer workers are wanted" };
  return { what, notice: `SIGTERM, ${graceSeconds} s, when the autoscaler empties a node`, ...forgiven };
}

function serving(workload: Workload): readonly Happening[] {
  const { capacity, pool, graceSeconds } = workload;
  const forgiven = {
    restartedBy: "the Deployment",
    resumesFrom: "the start: a server keeps nothing",
    delay: "until a node is there",
    pays: "nobody",
  };
  return [
    ...(capacity.includes("spot")
      ? [
          {
            what: "preemption (Spot)",
            notice: `SIGTERM, ${Math.min(graceSeconds, pool.spotWindow)} s; the Service may send requests until the pod is gone`,
            ...forgiven,
          },
        ]
      : []),
    {
      what: "drain, upgrade, scale-down",
      notice: `SIGTERM, ${graceSeconds} s; limited by the PodDisruptionBudget`,
      ...forgiven,
    },
    {
      what: "out of memory, bug",
      notice: "none",
      ...forgiven,
      restartedBy: "the kubelet, on the same node",
      delay: "10 s, doubling to 5 min",
    },
  ];
}
