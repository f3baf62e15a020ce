import type { AccessMode, Capacity, EnvValue, SecretRef, Tolerance, WorkloadKind } from "./types.ts";

type Maybe<T> = T | undefined;

/** An entry of `storage` as written. */
export interface RawStorage {
  type: "gcs" | "pvc" | "fuse";
  name?: Maybe<string>;
  bucket?: Maybe<string>;
  mount?: Maybe<string>;
  readOnly?: Maybe<boolean>;
  existing?: Maybe<boolean>;
  size?: Maybe<string>;
  access?: Maybe<AccessMode>;
  storageClass?: Maybe<string>;
  regional?: Maybe<boolean>;
}

/** A workload as written in outlast.yaml, its shape already checked. */
export interface RawWorkload {
  kind: WorkloadKind;
  name: string;
  namespace?: Maybe<string>;
  image: string;
  command?: Maybe<string[]>;
  env?: Maybe<Record<string, EnvValue | number | boolean>>;
  tolerance?: Maybe<Tolerance>;
  accelerator?: Maybe<string>;
  machine?: Maybe<string>;
  resources?: Maybe<{ cpu?: Maybe<string | number>; memory?: Maybe<string> }>;
  parallelism?: Maybe<number>;
  completions?: Maybe<number>;
  pods?: Maybe<"shards" | "independent">;
  storage?: Maybe<RawStorage[]>;
  checkpoint?: Maybe<{
    dir?: Maybe<string>;
    store?: Maybe<string>;
    keep?: Maybe<number>;
    interval?: Maybe<string | number>;
    size?: Maybe<string>;
    variables?: Maybe<{ dir?: Maybe<string>; interval?: Maybe<string> }>;
  }>;
  queue?: Maybe<string | SecretRef>;
  results?: Maybe<string | SecretRef>;
  workers?: Maybe<"job" | "scaled-job" | "deployment">;
  port?: Maybe<number>;
  capacity?: Maybe<Capacity | Capacity[]>;
  flexStart?: Maybe<{ mode?: Maybe<"plain" | "queued" | "kueue">; localQueue?: Maybe<string> }>;
  pool?: Maybe<{
    name?: Maybe<string>;
    existing?: Maybe<boolean>;
    min?: Maybe<number>;
    max?: Maybe<number>;
    taints?: Maybe<string[]>;
    labels?: Maybe<Record<string, string>>;
    zones?: Maybe<string[]>;
    spotWindow?: Maybe<string>;
  }>;
  maxRunDuration?: Maybe<string | number>;
  grace?: Maybe<string | number>;
  priority?: Maybe<number>;
  retries?: Maybe<number>;
  budget?: Maybe<string | number>;
  deadline?: Maybe<string>;
  cluster?: Maybe<{
    name?: Maybe<string>;
    location?: Maybe<string>;
    project?: Maybe<string>;
    mode?: Maybe<"standard" | "autopilot">;
    version?: Maybe<string>;
    autoProvisioning?: Maybe<boolean>;
  }>;
  serviceAccount?: Maybe<{ name?: Maybe<string>; google?: Maybe<string> }>;
  outlast?: Maybe<{ image?: Maybe<string>; path?: Maybe<string> }>;
  user?: Maybe<number>;
  minAvailable?: Maybe<number>;
  watch?: Maybe<boolean>;
}

/** Keys that a document without `kind` may hold for all workloads of its file. */
export const sharedKeys: readonly ("cluster" | "namespace" | "outlast")[] = ["cluster", "namespace", "outlast"];
