import { isAtLeast, leastVersions } from "../gke-version.ts";
import { type Check, error, type Finding, warning } from "./finding.ts";

const spotLabels = ["cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible"];
const flexLabel = "cloud.google.com/gke-flex-start";
const provisioning = "cloud.google.com/gke-provisioning";

/** Which nodes the pods may land on, and whether such nodes can come to be. */
export const checkCapacity: Check = (workload, raw) => [
  ...repeated(raw.capacity),
  ...selectors(workload),
  ...classOnly(workload, raw),
  ...flexStart(workload, raw),
  ...pool(workload, raw),
  ...spotWindow(workload, raw),
  ...(workload.kind === "serve" && workload.capacity.includes("spot") && workload.parallelism === 1
    ? [
        warning(
          raw.capacity === undefined ? ["tolerance"] : ["capacity"],
          "one replica on Spot is down while it is replaced",
          "raise parallelism, or take on-demand",
        ),
      ]
    : []),
];

function repeated(capacity: unknown): readonly Finding[] {
  if (!Array.isArray(capacity) || new Set(capacity).size === capacity.length) return [];
  return [error(["capacity"], "a capacity is named twice", "name each once, in order of preference")];
}

const selectors = ({ capacity, pool: { labels, create } }: Parameters<Check>[0]): readonly Finding[] => {
  const wantsSpot = spotLabels.some((key) => labels[key] !== undefined) || labels[provisioning] === "spot";
  const wantsFlex = labels[flexLabel] !== undefined || labels[provisioning] === "flex-start";
  const path = ["pool", "labels"];
  if (
    (capacity.includes("flex-start") && wantsSpot) ||
    (wantsFlex && wantsSpot) ||
    (capacity.includes("spot") && wantsFlex)
  ) {
    return [
      error(
        path,
        "Spot and flex-start are selected together: no node is both, and GKE never scales up for such a pod",
        "leave the label out: the selector follows from capacity; for one after the other write capacity: [spot, flex-start]",
      ),
    ];
  }
  // A list is a ComputeClass, which no selector of one capacity may stand beside.
  const [only] = capacity.length === 1 ? capacity : [];
  const named = wantsSpot ? "spot" : wantsFlex ? "flex-start" : undefined;
  if (named !== undefined && named !== only) {
    return [
      error(
        path,
        `the labels select ${named}, and capacity is ${capacity.join(", ")}`,
        "leave the label out: the selector follows from capacity",
      ),
    ];
  }
  const [own] = Object.keys(labels).filter((key) =>
    /^(cloud\.google\.com|([a-z-]+\.)?(kubernetes|k8s)\.io)\//.test(key),
  );
  if (create && own !== undefined) {
    return [error(path, `${own} is set by GKE itself and cannot be given to a new pool`, "leave it out")];
  }
  return [];
};

const classOnly: Check = ({ capacity, pool: { create, taints }, flexStart: { mode } }, raw) => {
  if (capacity.length === 1) return [];
  const found: Finding[] = [];
  if (!create || taints.length > 0 || Object.keys(raw.pool?.labels ?? {}).length > 0) {
    found.push(
      error(
        ["pool"],
        "a list of capacities is a ComputeClass, which makes its own pools; an existing pool, taints and labels have no place there",
        "leave them out, or name one capacity",
      ),
    );
  }
  if (capacity.includes("flex-start") && mode !== "plain") {
    found.push(
      error(
        ["flexStart", "mode"],
        `flex-start in mode ${mode} cannot be part of a list: a ComputeClass knows the plain one only`,
        "write mode: plain, or capacity: flex-start",
      ),
    );
  }
  return found;
};

const flexStart: Check = (workload, raw) => {
  const { capacity, cluster, maxRunSeconds, flexStart: flex, parallelism } = workload;
  const isFlex = capacity.includes("flex-start");
  if (!isFlex) {
    return raw.flexStart
      ? [
          warning(
            ["flexStart"],
            "flexStart says nothing where capacity is not flex-start",
            "leave it out, or add flex-start to capacity",
          ),
        ]
      : [];
  }
  const found: Finding[] = [];
  if (maxRunSeconds !== undefined && (maxRunSeconds < 600 || maxRunSeconds > 604_800)) {
    found.push(
      error(["maxRunDuration"], "flex-start nodes live from 10 minutes to 7 days", "write a length between 10m and 7d"),
    );
  }
  if (flex.mode !== "plain" && parallelism > 1000) {
    found.push(error(["parallelism"], "one request takes at most 1000 machines", "lower parallelism"));
  }
  if (flex.mode !== "plain" && cluster.mode === "autopilot" && raw.pool?.name === undefined && flex.mode === "queued") {
    found.push(
      warning(
        ["flexStart", "mode"],
        "queued provisioning is written for a node pool of its own, which Autopilot does not have",
        "take mode: plain on Autopilot",
      ),
    );
  }
  if (cluster.version !== undefined && isAtLeast(cluster.version, leastVersions.flexStart) === false) {
    found.push(
      warning(
        ["cluster", "version"],
        `flex-start is documented for ${leastVersions.flexStart} and later`,
        "upgrade, or check what your version offers",
      ),
    );
  }
  if (flex.localQueue !== undefined && flex.mode !== "kueue") {
    found.push(
      warning(["flexStart", "localQueue"], "localQueue says nothing where mode is not kueue", "write mode: kueue"),
    );
  }
  return found;
};

const pool: Check = (workload, raw) => {
  const {
    pool: { min, max, create },
    cluster,
    capacity,
    accelerator,
    parallelism,
  } = workload;
  const found: Finding[] = [];
  if (min > max) found.push(error(["pool", "min"], `min ${min} is above max ${max}`, "raise max"));
  if (!create && raw.pool?.name === undefined && Object.keys(raw.pool?.labels ?? {}).length === 0) {
    found.push(
      error(
        ["pool", "existing"],
        "an existing pool is found by its name or its labels, and neither is given",
        "write pool.name or pool.labels",
      ),
    );
  }
  if (
    cluster.mode === "autopilot" &&
    (raw.pool?.existing || raw.pool?.min || raw.pool?.max || raw.pool?.taints || raw.pool?.labels)
  ) {
    found.push(
      error(["pool"], "Autopilot has no node pools of yours", "leave pool out, or write cluster.mode: standard"),
    );
  }
  if (min > 0 && capacity.includes("flex-start")) {
    found.push(
      error(["pool", "min"], "flex-start nodes come when they are needed; a pool of them starts at 0", "write min: 0"),
    );
  }
  const share = accelerator ? Math.max(1, Math.floor(accelerator.nodeCount / accelerator.count)) : undefined;
  if (create && capacity.length === 1 && share && raw.pool?.max !== undefined && max * share < parallelism) {
    found.push(
      warning(
        ["pool", "max"],
        `${max} nodes hold ${max * share} pods, and parallelism is ${parallelism}: the rest waits`,
        "raise max or lower parallelism",
      ),
    );
  }
  return found;
};

const spotWindow: Check = (workload) => {
  const {
    capacity,
    cluster,
    graceSeconds,
    pool: { spotWindow: window, create },
  } = workload;
  const isSpot = capacity.includes("spot");
  const found: Finding[] = [];
  const least = capacity.length > 1 ? leastVersions.classSpotWindow : leastVersions.spotWindow;
  if (isSpot && graceSeconds > window) {
    found.push(
      error(
        ["grace"],
        `grace is ${graceSeconds} s, and Spot leaves regular pods ${window} s whatever a pod asks for: the save would be cut off`,
        window === 15 ? `write grace: 15s, or pool.spotWindow: 60s on GKE ${least} or later` : "write grace: 60s",
      ),
    );
  }
  if (window === 60 && !isSpot) {
    found.push(warning(["pool", "spotWindow"], "spotWindow says nothing where capacity is not spot", "leave it out"));
  }
  if (window !== 60 || !isSpot) return found;
  if (cluster.mode === "autopilot" && capacity.length === 1) {
    found.push(
      error(
        ["pool", "spotWindow"],
        "on Autopilot the window is set by a ComputeClass only",
        "write capacity as a list, such as [spot, on-demand]",
      ),
    );
  } else if (cluster.version === undefined || isAtLeast(cluster.version, least) !== true) {
    const what =
      cluster.version === undefined ? "cluster.version is not given" : `cluster.version is ${cluster.version}`;
    found.push(
      warning(
        ["pool", "spotWindow"],
        `a longer window needs GKE ${least} or later (preview), and ${what}`,
        "check the version; without it 15 s arrive",
      ),
    );
  }
  if (!create) {
    found.push(
      warning(
        ["pool", "spotWindow"],
        "the pool is there already: its window is as it was made",
        "look at its kubeletConfig",
      ),
    );
  }
  return found;
};
