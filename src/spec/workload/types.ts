import type { RawSettings } from "../resolve.ts";

export type WorkloadKind = "train" | "batch" | "serve";
export type Capacity = "spot" | "flex-start" | "on-demand";
export type Tolerance = "critical" | "scheduled" | "tolerant";
export type AccessMode = "ReadWriteOnce" | "ReadWriteOncePod" | "ReadWriteMany" | "ReadOnlyMany";

/** A value that lives in a Secret, and never in a manifest. */
export interface SecretRef {
  readonly secret: string;
  readonly key: string;
}

/** A value of the container's environment. */
export type EnvValue = string | SecretRef | { readonly configMap: string; readonly key: string };

/** A disk, a shared file system or a claim that exists already. */
export interface PvcStorage {
  readonly type: "pvc";
  /** The claim's name. */
  readonly name: string;
  readonly mount: string;
  readonly readOnly: boolean;
  /** Undefined: the claim exists already. */
  readonly size: string | undefined;
  readonly access: AccessMode;
  readonly storageClass: string | undefined;
  /** A disk that lives in two zones; its StorageClass is made too. */
  readonly regional: boolean;
}

/** A bucket that is mounted as files. */
export interface FuseStorage {
  readonly type: "fuse";
  readonly name: string;
  readonly bucket: string;
  readonly mount: string;
  readonly readOnly: boolean;
}

/** A bucket that the program reaches by itself. */
export interface BucketStorage {
  readonly type: "gcs";
  readonly bucket: string;
  readonly readOnly: boolean;
}

export type Storage = PvcStorage | FuseStorage | BucketStorage;

/** How a training program's checkpoints are kept. */
export interface Checkpoint {
  readonly dir: string;
  readonly store: string;
  readonly keep: number | undefined;
  /** Passed on as written, in the trainer's own unit. */
  readonly interval: string | undefined;
  /** The trainer's own variables. */
  readonly variables: { readonly dir: string | undefined; readonly interval: string | undefined };
  /** Room for the directory where no volume is mounted there. */
  readonly size: string | undefined;
}

/** The accelerators of one pod, and of the node it needs. */
export interface Accelerator {
  /** As in `cloud.google.com/gke-accelerator`. */
  readonly type: string;
  readonly count: number;
  /** How many the machine has. */
  readonly nodeCount: number;
}

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

/** The node pool that the pods are meant for. */
export interface Pool {
  readonly name: string;
  /** False: it is there already, and only selected. */
  readonly create: boolean;
  readonly min: number;
  readonly max: number;
  /** False: `max` follows from the pods. */
  readonly isMaxGiven: boolean;
  readonly taints: readonly Taint[];
  readonly labels: Readonly<Record<string, string>>;
  readonly zones: readonly string[];
  /** What regular pods get of the shutdown window on Spot, in seconds. */
  readonly spotWindow: 15 | 60;
}

/** Where it runs; parts that are not known stand as placeholders in commands. */
export interface Cluster {
  readonly name: string | undefined;
  readonly location: string | undefined;
  readonly project: string | undefined;
  readonly mode: "standard" | "autopilot";
  readonly version: string | undefined;
  readonly autoProvisioning: boolean;
}

/** One workload of outlast.yaml with everything decided that can be decided from the file. */
export interface Workload {
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly namespace: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, EnvValue>>;
  readonly accelerator: Accelerator | undefined;
  readonly machine: string | undefined;
  readonly resources: { readonly cpu: string | undefined; readonly memory: string | undefined };
  /** Pods at the same time: trainers, workers, replicas. */
  readonly parallelism: number;
  /** How many indexes a training Job has. */
  readonly completions: number;
  readonly pods: "shards" | "independent";
  readonly storage: readonly Storage[];
  /** Set for training. */
  readonly checkpoint: Checkpoint | undefined;
  readonly queue: string | SecretRef | undefined;
  readonly results: string | SecretRef | undefined;
  readonly workers: "job" | "scaled-job" | "deployment";
  readonly port: number | undefined;
  /** In order of preference. */
  readonly capacity: readonly [Capacity, ...Capacity[]];
  /** Why this capacity, for people. */
  readonly capacityReason: string;
  readonly tolerance: Tolerance;
  readonly flexStart: { readonly mode: "plain" | "queued" | "kueue"; readonly localQueue: string | undefined };
  readonly pool: Pool;
  readonly maxRunSeconds: number | undefined;
  readonly graceSeconds: number;
  readonly priority: number;
  /** Real failures that are forgiven. */
  readonly retries: number;
  readonly budget: string | undefined;
  readonly deadline: string | undefined;
  readonly cluster: Cluster;
  readonly serviceAccount: { readonly name: string; readonly google: string | undefined };
  readonly outlast: { readonly image: string | undefined; readonly path: string | undefined };
  /** The user that the containers run as; the image's own when undefined. */
  readonly user: number | undefined;
  readonly minAvailable: number | undefined;
  /** Whether rights for `outlast watch` are wanted too. */
  readonly watch: boolean;
  /** Settings that stand beside the workload's own keys, as written. */
  readonly settings: RawSettings;
}
