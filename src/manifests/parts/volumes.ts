import type { Storage, Workload } from "../../spec/workload/index.ts";
import { copiesOutlast } from "../names.ts";
import { type Described, why } from "../why.ts";
import { binMount, podInfoMount } from "./command-line.ts";

/** The volumes of a pod, and where the main container has them. */
export interface Volumes {
  readonly volumes: readonly Described[];
  readonly mounts: readonly Described[];
}

/** Mounts what was asked for, and what outlast needs: its executable, the pod's annotations, room for checkpoints. */
export function volumesOf(workload: Workload): Volumes {
  const volumes: Described[] = [];
  const mounts: Described[] = [];
  if (copiesOutlast(workload)) {
    volumes.push(
      why("holds the executable that the init container copies", {
        name: "outlast-bin",
        emptyDir: { sizeLimit: "512Mi" },
      }),
    );
    mounts.push({ name: "outlast-bin", mountPath: binMount, readOnly: true });
  }
  if (workload.kind !== "serve") {
    volumes.push(
      why("outlast.dev/stop-at, written to the pod while it runs, tells outlast a known end of its node", {
        name: "outlast-podinfo",
        downwardAPI: { items: [{ path: "annotations", fieldRef: { fieldPath: "metadata.annotations" } }] },
      }),
    );
    mounts.push({ name: "outlast-podinfo", mountPath: podInfoMount, readOnly: true });
  }
  const { checkpoint } = workload;
  const home = checkpoint && volumeOf(checkpoint.dir, workload.storage);
  if (checkpoint && !home) {
    volumes.push(
      why("the node's own disk: fast, and gone with the node; outlast ships what is complete to the store", {
        name: "outlast-checkpoints",
        emptyDir: checkpoint.size === undefined ? {} : { sizeLimit: checkpoint.size },
      }),
    );
    mounts.push({ name: "outlast-checkpoints", mountPath: checkpoint.dir });
  }
  for (const [index, one] of workload.storage.entries()) {
    if (one.type === "gcs") continue;
    const name = `storage-${index}`;
    volumes.push({ name, ...sourceOf(one) });
    mounts.push({ name, mountPath: one.mount, readOnly: one.readOnly ? true : undefined });
    const inside = checkpoint && home === one ? insideOf(checkpoint.dir, one.mount) : undefined;
    if (checkpoint && inside) {
      mounts.push(
        why("a folder of that volume: mounted by itself, it is made where it is missing", {
          name,
          mountPath: checkpoint.dir,
          subPath: inside,
        }),
      );
    }
  }
  return { volumes, mounts };
}

/** Whether the pods mount a bucket as files. */
export function usesFuse({ storage }: Workload): boolean {
  return storage.some(({ type }) => type === "fuse");
}

/** The volume a directory is on: of mounts within mounts, the innermost. */
function volumeOf(dir: string, storage: readonly Storage[]): Storage | undefined {
  const around = storage.filter((one) => one.type !== "gcs").filter((one) => insideOf(dir, one.mount) !== undefined);
  return around.toSorted((a, b) => b.mount.length - a.mount.length)[0];
}

/** The part of a path below a mount; empty for the mount itself, undefined outside of it. */
function insideOf(path: string, mount: string): string | undefined {
  const base = mount.replace(/\/+$/, "");
  if (path.replace(/\/+$/, "") === base) return "";
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1).replace(/\/+$/, "") : undefined;
}

function sourceOf(one: Exclude<Storage, { type: "gcs" }>): { readonly [key: string]: Described } {
  if (one.type === "pvc")
    return { persistentVolumeClaim: { claimName: one.name, ...(one.readOnly ? { readOnly: true } : {}) } };
  return {
    csi: {
      driver: "gcsfuse.csi.storage.gke.io",
      ...(one.readOnly ? { readOnly: true } : {}),
      volumeAttributes: {
        bucketName: one.bucket,
        mountOptions: why("folders that exist only as parts of names are seen too", "implicit-dirs"),
      },
    },
  };
}
