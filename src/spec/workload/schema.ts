import { z } from "zod";
import type { RawStorage, RawWorkload } from "./raw.ts";

const label = (what: string) =>
  z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, `${what} is made of lower-case letters, digits and "-"`);
const text = z.string().min(1, "must not be empty");
const count = (least: number, most = 100_000) => z.int().min(least).max(most);
const path = text.regex(/^\/[^\0]*$/, "must be an absolute path").refine((at) => at !== "/", "must not be /");
const length = z.union([
  text.regex(/^(\d+(\.\d+)?(ms|s|m|h|d))+$|^\d+(\.\d+)?$/, "must be a length of time such as 15s or 12h"),
  z.number().positive(),
]);
const quantity = text.regex(/^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/, "must be an amount such as 16Gi or 500m");
const variable = text.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of a variable");
const bucket = text.regex(/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/, "must be the name of a bucket, without gs://");
const object = text.max(253).regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "must be the name of a Kubernetes object");
const dataKey = text.max(253).regex(/^[-._a-zA-Z0-9]+$/, "must be a key of it");
const secret = z.strictObject({ secret: object, key: dataKey });
const configMap = z.strictObject({ configMap: object, key: dataKey });
const labels = z.record(
  text.regex(/^([a-z0-9.-]+\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/, "must be a label's key"),
  z
    .string()
    .regex(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/, "must be a label's value; quote it if need be"),
);

const storage = {
  type: z.enum(["gcs", "pvc", "fuse"]).describe("a bucket, a claim, or a bucket mounted as files"),
  name: label("a volume's name").optional().describe("pvc: the claim's name; left out: made from the workload's name"),
  bucket: bucket.optional().describe("gcs, fuse: the bucket"),
  mount: path.optional().describe("pvc, fuse: where it is mounted"),
  readOnly: z.boolean().optional().describe("mounted read-only; a bucket: the pods may only read it"),
  existing: z.boolean().optional().describe("pvc: the claim is there already, and only mounted"),
  size: quantity.optional().describe("pvc: the size of a new claim, such as 500Gi"),
  access: z
    .enum(["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany", "ReadOnlyMany"])
    .optional()
    .describe("pvc: the access mode (ReadWriteOnce)"),
  storageClass: text.optional().describe("pvc: the storage class; the cluster's default when left out"),
  regional: z.boolean().optional().describe("pvc: a disk in two zones; its StorageClass is made too"),
} satisfies { [Key in keyof RawStorage]-?: z.ZodType<RawStorage[Key]> };

const shape = {
  kind: z
    .enum(["train", "batch", "serve"])
    .describe("train: `outlast run`; batch: `outlast work`; serve: a Deployment"),
  // A pod of an Indexed Job is called NAME-INDEX, and must still be a host name.
  name: label("a name")
    .max(52)
    .regex(/^[a-z]/, "a name begins with a letter")
    .describe("names the Kubernetes objects and the run"),
  namespace: label("a namespace").optional().describe("the namespace (default)"),
  image: text.describe("your image; it needs neither Node nor outlast"),
  command: z
    .array(z.string())
    .min(1)
    .refine(([program]) => program !== "", "its first word is the program")
    .optional()
    .describe("the program and its arguments; {resume} becomes the restored path"),
  env: z
    .record(variable, z.union([z.string(), z.number(), z.boolean(), secret, configMap]))
    .optional()
    .describe("the program's variables; a secret is {secret: NAME, key: KEY}"),
  tolerance: z
    .enum(["critical", "scheduled", "tolerant"])
    .optional()
    .describe("decides the capacity where none is named: on-demand, flex-start, Spot"),
  accelerator: text
    .regex(/^[A-Za-z0-9-]+(:[1-9]\d*)?$/, "must be a type and a count, such as L4:2")
    .optional()
    .describe("accelerators of one pod, such as L4:2"),
  machine: text.optional().describe("the machine type; the smallest that carries the accelerators when left out"),
  resources: z
    .strictObject({
      cpu: z
        .union([quantity, z.number().min(0.001)])
        .optional()
        .describe("cores, such as 4 or 500m"),
      memory: quantity.optional().describe("such as 16Gi"),
    })
    .optional()
    .describe("what a pod asks for besides accelerators"),
  parallelism: count(1).optional().describe("pods at the same time: trainers, workers, replicas (1)"),
  completions: count(1).optional().describe("train: how many independent runs there are in all (parallelism)"),
  pods: z
    .enum(["shards", "independent"])
    .optional()
    .describe("train: pods save one checkpoint together, or each is a run of its own"),
  storage: z.array(z.strictObject(storage)).optional().describe("volumes and buckets"),
  checkpoint: z
    .strictObject({
      dir: path.optional().describe("the directory the program writes its checkpoints to (run.dir)"),
      store: text.optional().describe("where they are kept: gs://BUCKET/PREFIX, s3://…, or a path on a volume (store)"),
      keep: count(1, 1_000_000).optional().describe("how many are kept (run.keep)"),
      interval: z.union([text, z.number()]).optional().describe("how often the trainer saves, in its own unit"),
      size: quantity.optional().describe("room for the directory on the node"),
      variables: z
        .strictObject({
          dir: variable.optional().describe("set to checkpoint.dir"),
          interval: variable.optional().describe("set to checkpoint.interval"),
        })
        .optional()
        .describe("the trainer's own variables for dir and interval, such as CHECKPOINT_DIR"),
    })
    .optional()
    .describe("train: checkpoints"),
  queue: z.union([text, secret]).optional().describe("batch: where items wait (batch.queue)"),
  results: z.union([text, secret]).optional().describe("batch: where results go (batch.results)"),
  workers: z
    .enum(["job", "scaled-job", "deployment"])
    .optional()
    .describe("batch: one Job until drained (job), KEDA ScaledJob, or Deployment + KEDA for short items"),
  port: count(1, 65_535).optional().describe("serve: the port it listens on"),
  capacity: z
    .union([z.enum(["spot", "flex-start", "on-demand"]), z.array(z.enum(["spot", "flex-start", "on-demand"])).min(1)])
    .optional()
    .describe("spot, flex-start, on-demand, or a list in order of preference"),
  flexStart: z
    .strictObject({
      mode: z.enum(["plain", "queued", "kueue"]).optional().describe("node by node (plain), or all at once"),
      localQueue: label("a queue's name").optional().describe("kueue: a LocalQueue that is there already"),
    })
    .optional()
    .describe("how flex-start capacity is asked for"),
  pool: z
    .strictObject({
      name: label("a pool's name").max(39).optional().describe("the node pool's name"),
      existing: z.boolean().optional().describe("the pool is there already, and only selected"),
      min: count(0, 1000).optional().describe("least nodes (0)"),
      max: count(1, 1000).optional().describe("most nodes (parallelism)"),
      taints: z
        .array(text.regex(/^[^=:\s]+=[^=:\s]*:(NoSchedule|PreferNoSchedule|NoExecute)$/, "must be KEY=VALUE:EFFECT"))
        .optional()
        .describe("taints of the pool, such as provisioning-tier=preemptible:NoSchedule"),
      labels: labels.optional().describe("labels of the pool"),
      zones: z.array(label("a zone")).min(1).optional().describe("zones of the pool"),
      spotWindow: z.enum(["15s", "60s"]).optional().describe("what Spot leaves to pods: 15s, or 60s where GKE can"),
    })
    .optional()
    .describe("the node pool"),
  maxRunDuration: length.optional().describe("how long a node lives, such as 12h; flex-start: at most 7d"),
  grace: length.optional().describe("time from the notice to the end (15s where Spot is possible, else 60s)"),
  priority: z.int().min(-2_147_483_648).max(1_000_000_000).optional().describe("pod priority (-5; 0 for serve)"),
  retries: count(0, 1000).optional().describe("real failures that are forgiven (6); evictions are not failures"),
  budget: z.union([text, z.number().positive()]).optional().describe("what it may cost; kept as an annotation"),
  deadline: text.optional().describe("when it has to be over; kept as an annotation, it ends nothing"),
  cluster: z
    .strictObject({
      name: text.optional().describe("its name"),
      location: label("a location").optional().describe("a region or a zone"),
      project: text.optional().describe("its project"),
      mode: z.enum(["standard", "autopilot"]).optional().describe("standard, unless told"),
      version: text
        .regex(/^\d+\.\d+(\.\d+)?(-gke\.\d+)?$/, "must be a version such as 1.35.0-gke.1171000")
        .optional()
        .describe("GKE's version, to know what it can do"),
      autoProvisioning: z.boolean().optional().describe("node auto-provisioning makes the pools"),
    })
    .optional()
    .describe("the cluster"),
  serviceAccount: z
    .strictObject({
      name: label("a service account's name").optional().describe("the Kubernetes one (the workload's name)"),
      google: text
        .regex(
          /^[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z0-9.:-]+\.iam\.gserviceaccount\.com$/,
          "must be a service account's e-mail address",
        )
        .optional()
        .describe("the Google one, by Workload Identity; one is named after the workload where it is needed"),
    })
    .optional()
    .describe("the pods' identity"),
  outlast: z
    .strictObject({
      image: text.optional().describe("an image that holds the single-file executable; it is copied into the pod"),
      path: path.optional().describe("where outlast is in your own image; nothing is copied then"),
    })
    .optional()
    .describe("where the executable comes from"),
  user: count(1, 2_147_483_647).optional().describe("the user the containers run as; the image's own when left out"),
  minAvailable: count(1).optional().describe("a PodDisruptionBudget of so many pods; it never stops a preemption"),
  watch: z.boolean().optional().describe("also make the rights that `outlast watch` needs"),
} satisfies { [Key in keyof RawWorkload]-?: z.ZodType<RawWorkload[Key]> };

/** The keys of a workload, each with its schema. */
export const workloadShape: Readonly<Record<keyof RawWorkload, z.ZodType>> = shape;

/** The fields of an object schema, through `optional` and arrays; none for anything else. */
function inner(field: z.ZodType): Readonly<Record<string, z.ZodType>> {
  if (field instanceof z.ZodOptional) return inner(field.unwrap() as z.ZodType);
  if (field instanceof z.ZodArray) return inner(field.element as z.ZodType);
  return field instanceof z.ZodObject ? field.shape : {};
}

/** One documented key of a workload. */
export interface WorkloadKey {
  readonly key: string;
  readonly means: string;
}

/** Keys and what they mean, for suggestions and the reference page. */
export function describeKeys(): readonly WorkloadKey[] {
  const walk = (fields: Readonly<Record<string, z.ZodType>>, prefix: string): WorkloadKey[] =>
    Object.entries(fields).flatMap(([key, field]) => [
      { key: `${prefix}${key}`, means: field.description ?? "" },
      ...walk(inner(field), `${prefix}${key}.`),
    ]);
  return walk(shape, "");
}
