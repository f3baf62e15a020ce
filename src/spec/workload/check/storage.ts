import type { Checkpoint, PvcStorage, Storage, Workload } from "../types.ts";
import { type Check, error, type Finding, warning } from "./finding.ts";

/** Volumes and where checkpoints go. */
export const checkStorage: Check = (workload, raw) => [
  ...(raw.storage ?? []).flatMap((one, index) => {
    const path = ["storage", index];
    const found: Finding[] = [];
    if (one.type !== "gcs" && one.mount === undefined)
      found.push(error(path, `a ${one.type} needs mount`, "write where it is mounted, such as mount: /data"));
    if (one.type !== "pvc" && one.bucket === undefined)
      found.push(error(path, `a ${one.type} needs bucket`, "write bucket: NAME"));
    if (one.type === "pvc" && !one.existing && one.size === undefined)
      found.push(error(path, "a new claim needs size", "write size: 100Gi, or existing: true"));
    if (one.type === "pvc" && one.existing && one.name === undefined)
      found.push(error(path, "an existing claim needs name", "write name: CLAIM"));
    if (one.regional && one.storageClass !== undefined)
      found.push(
        error(
          [...path, "regional"],
          "regional makes a StorageClass of its own, and another is named",
          "leave one of them out",
        ),
      );
    const useless = Object.keys(one).filter((key) => !fits(one.type, key));
    for (const key of useless)
      found.push(error([...path, key], `${key} means nothing for type: ${one.type}`, "leave it out"));
    return found;
  }),
  ...sameMounts(workload),
  ...claims(workload),
  ...(workload.checkpoint ? checkpoints(workload, workload.checkpoint) : []),
];

function fits(type: Storage["type"], key: string): boolean {
  if (type === "gcs") return ["type", "bucket", "readOnly"].includes(key);
  if (type === "fuse") return ["type", "name", "bucket", "mount", "readOnly"].includes(key);
  return key !== "bucket";
}

function mountsOf({ storage }: Workload): readonly Exclude<Storage, { type: "gcs" }>[] {
  return storage.filter((one) => one.type !== "gcs");
}

function sameMounts(workload: Workload): readonly Finding[] {
  const seen = new Set<string>();
  return workload.storage.flatMap((one, index) => {
    if (one.type === "gcs" || one.mount === "") return [];
    const name = `name ${one.name}`;
    const clash = seen.has(one.mount)
      ? `two volumes are mounted at ${one.mount}`
      : seen.has(name)
        ? `two volumes are called ${one.name}`
        : undefined;
    seen.add(one.mount).add(name);
    return clash ? [error(["storage", index], clash, "give each a place and a name of its own")] : [];
  });
}

function claims(workload: Workload): readonly Finding[] {
  const { parallelism, storage, pool, cluster, capacity } = workload;
  return storage.flatMap((one, index): readonly Finding[] => {
    if (one.type !== "pvc") return [];
    const path = ["storage", index, "access"];
    if (isEmptyForEver(one)) {
      return [
        warning(
          path,
          `${one.name} is new, so it is empty, and nobody may write to it`,
          "fill a claim first and name it with existing: true",
        ),
      ];
    }
    if (parallelism > 1 && (one.access === "ReadWriteOnce" || one.access === "ReadWriteOncePod")) {
      return [
        error(
          path,
          `${one.access} lets one node mount ${one.name}, and ${parallelism} pods want it: all but the first would wait for ever`,
          "write access: ReadWriteMany with a storageClass that can (Filestore), or keep checkpoints in a bucket (checkpoint.store: gs://…)",
        ),
      ];
    }
    if (!isZonal(one)) return [];
    const isOneZone = pool.zones.length === 1 || /-[a-z]$/.test(cluster.location ?? "");
    if (isOneZone || (cluster.location === undefined && pool.zones.length < 2 && capacity.length === 1)) return [];
    const message = `the disk of ${one.name} lives in one zone and pins its pod there`;
    const hint =
      "write regional: true for a disk in two zones, name one zone in pool.zones, or keep checkpoints in a bucket";
    return capacity.length > 1
      ? [
          error(
            path,
            `${message}, so falling back to ${capacity.slice(1).join(", ")} in another zone cannot happen`,
            hint,
          ),
        ]
      : [warning(path, `${message}: capacity in the other zones is of no use`, hint)];
  });
}

/** Whether a claim is a disk of one zone: what its class is called is all there is to go by. */
function isZonal(claim: PvcStorage): boolean {
  if (claim.access !== "ReadWriteOnce" && claim.access !== "ReadWriteOncePod") return false;
  return !claim.regional && !/regional|filestore|rwx|nfs/i.test(claim.storageClass ?? "");
}

/** Whether a claim is made here that nobody could ever write to. */
function isEmptyForEver({ access, size }: PvcStorage): boolean {
  return access === "ReadOnlyMany" && size !== undefined;
}

function isUnder(path: string, mount: string): boolean {
  return mount !== "" && (path === mount || path.startsWith(`${mount.replace(/\/$/, "")}/`));
}

function checkpoints(workload: Workload, { dir, store, interval, variables }: Checkpoint): readonly Finding[] {
  const found: Finding[] = [];
  const mounts = mountsOf(workload);
  if (dir === "")
    found.push(
      error(
        ["checkpoint"],
        "checkpoint.dir is missing",
        "write the directory the program saves to, such as dir: /ckpt",
      ),
    );
  else if (!dir.startsWith("/"))
    found.push(
      error(["run", "dir"], `the pods need an absolute directory, and run.dir is ${dir}`, "write checkpoint.dir"),
    );
  if (store === "") {
    found.push(
      error(
        ["checkpoint"],
        "checkpoint.store is missing: what stays on a node is lost with it",
        "write store: gs://BUCKET/PREFIX, or a path on a volume",
      ),
    );
  } else if (/^(gs|s3):\/\//.test(store)) {
    if (/:\/\/[^/]*@/.test(store))
      found.push(
        error(
          ["checkpoint", "store"],
          "a store's address must not hold credentials",
          "use Workload Identity, or a Secret in env",
        ),
      );
  } else {
    const place = store.replace(/^file:(\/\/)?/, "");
    const mount = mounts.find((one) => isUnder(place, one.mount));
    if (!mount)
      found.push(
        error(
          ["checkpoint", "store"],
          `${store} is on no volume: it is lost with the pod`,
          "mount a volume there (storage), or write gs://BUCKET/PREFIX",
        ),
      );
    else if (mount.type === "fuse")
      found.push(
        error(
          ["checkpoint", "store"],
          `${store} is on a FUSE mount, which cannot create a file only if it is absent`,
          `write store: gs://${mount.bucket}`,
        ),
      );
    else if (mount.readOnly)
      found.push(
        error(["checkpoint", "store"], `${store} is on a volume that is mounted read-only`, "leave readOnly out"),
      );
  }
  const under = mounts.find((one) => isUnder(dir, one.mount));
  if (under?.type === "fuse")
    found.push(
      warning(
        ["checkpoint", "dir"],
        `${dir} is on a FUSE mount, where a file appears when it is closed and renames are not atomic`,
        "write to the node's disk, outside of the mount; outlast ships it to the bucket",
      ),
    );
  if (under?.readOnly)
    found.push(error(["checkpoint", "dir"], `${dir} is on a volume that is mounted read-only`, "leave readOnly out"));
  if (under && workload.parallelism > 1 && under.type === "pvc") {
    found.push(
      error(
        ["checkpoint", "dir"],
        `${workload.parallelism} pods would write their checkpoints to one directory`,
        "leave the directory on each node's own disk; outlast ships it to the store",
      ),
    );
  }
  if (interval !== undefined && variables.interval === undefined) {
    found.push(
      warning(
        ["checkpoint", "interval"],
        "the interval reaches nobody",
        "name the trainer's variable: variables: {interval: CHECKPOINT_INTERVAL}",
      ),
    );
  }
  return found;
}
