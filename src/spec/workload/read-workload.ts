import { parseDuration } from "../../core/index.ts";
import type { RawSettings } from "../resolve.ts";
import { chooseCapacity } from "./capacity.ts";
import { findAccelerator, gpusOf, nodeCount, smallestMachine } from "./machines.ts";
import type { RawStorage, RawWorkload } from "./raw.ts";
import type { Accelerator, Checkpoint, EnvValue, Pool, Storage, Taint, Workload } from "./types.ts";

/** Decides everything about a workload that can be decided from the file. Contradictions are told by the checks, not here. */
export function readWorkload(raw: RawWorkload, settings: RawSettings): Workload {
  const { capacity, tolerance, reason } = chooseCapacity(raw);
  const parallelism = raw.parallelism ?? 1;
  const accelerator = acceleratorOf(raw);
  const pool = poolOf(raw, capacity[0], accelerator, parallelism);
  const canBeSpot = capacity.includes("spot");
  return {
    kind: raw.kind,
    name: raw.name,
    namespace: raw.namespace ?? "default",
    image: raw.image,
    command: raw.command ?? [],
    env: Object.fromEntries(Object.entries(raw.env ?? {}).map(([name, value]) => [name, envOf(value)])),
    accelerator,
    machine: raw.machine ?? (accelerator && smallestMachine(accelerator.type, accelerator.count)),
    resources: {
      cpu: raw.resources?.cpu === undefined ? undefined : String(raw.resources.cpu),
      memory: raw.resources?.memory,
    },
    parallelism,
    completions: raw.completions ?? parallelism,
    pods: raw.pods ?? "shards",
    storage: (raw.storage ?? []).map((one, index) => storageOf(one, index, raw.name)),
    checkpoint: raw.kind === "train" ? checkpointOf(raw, settings) : undefined,
    queue: raw.queue ?? one(settings.queue),
    results: raw.results ?? one(settings.results),
    workers: raw.workers ?? "job",
    port: raw.port,
    capacity,
    capacityReason: reason,
    tolerance,
    flexStart: { mode: raw.flexStart?.mode ?? "plain", localQueue: raw.flexStart?.localQueue },
    pool,
    maxRunSeconds: raw.maxRunDuration === undefined ? undefined : seconds(raw.maxRunDuration, "maxRunDuration"),
    graceSeconds: graceOf(raw, settings) ?? (canBeSpot ? pool.spotWindow : 60),
    priority: raw.priority ?? (raw.kind === "serve" || tolerance === "critical" ? 0 : -5),
    retries: raw.retries ?? 6,
    budget: raw.budget === undefined ? undefined : String(raw.budget),
    deadline: raw.deadline,
    cluster: {
      name: raw.cluster?.name,
      location: raw.cluster?.location,
      project: raw.cluster?.project,
      mode: raw.cluster?.mode ?? "standard",
      version: raw.cluster?.version,
      autoProvisioning: raw.cluster?.autoProvisioning ?? false,
    },
    serviceAccount: { name: raw.serviceAccount?.name ?? raw.name, google: raw.serviceAccount?.google },
    outlast: { image: raw.outlast?.image, path: raw.outlast?.path },
    user: raw.user,
    minAvailable: raw.minAvailable,
    watch: raw.watch ?? false,
    settings,
  };
}

/** A duration in whole seconds; `what` names it in an error. */
export function seconds(value: string | number, what: string): number {
  return Math.floor(parseDuration(String(value), what) / 1000);
}

function graceOf(raw: RawWorkload, settings: RawSettings): number | undefined {
  const written = raw.grace ?? one(settings.grace);
  return written === undefined ? undefined : seconds(written, "grace");
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.at(-1);
}

function envOf(value: EnvValue | number | boolean): EnvValue {
  return typeof value === "object" ? value : String(value);
}

/** Type and count as written; the type in GKE's spelling where it is known. */
export function writtenAccelerator(raw: RawWorkload): { readonly type: string; readonly count: number } | undefined {
  if (raw.accelerator === undefined) return undefined;
  const [type = "", count = "1"] = raw.accelerator.split(":");
  return { type: findAccelerator(type) ?? type, count: Number(count) };
}

function acceleratorOf(raw: RawWorkload): Accelerator | undefined {
  const written = writtenAccelerator(raw);
  if (written) {
    const machine = raw.machine ?? smallestMachine(written.type, written.count);
    return {
      ...written,
      nodeCount: (machine === undefined ? undefined : nodeCount(machine, written.type, written.count)) ?? written.count,
    };
  }
  const own = raw.machine === undefined ? [] : gpusOf(raw.machine);
  const [only] = own;
  // A machine that comes with one kind of accelerator names it; an N1 may have any or none.
  if (!only || own.length > 1) return undefined;
  const count = only.counts[0] ?? 1;
  return { type: only.accelerator, count, nodeCount: count };
}

function poolOf(raw: RawWorkload, capacity: string, accelerator: Accelerator | undefined, parallelism: number): Pool {
  const share = accelerator ? Math.max(1, Math.floor(accelerator.nodeCount / accelerator.count)) : 1;
  const min = raw.pool?.min ?? 0;
  return {
    name: raw.pool?.name ?? poolName(raw, capacity, accelerator),
    create: !(raw.pool?.existing ?? false),
    min,
    max: raw.pool?.max ?? Math.min(1000, Math.max(Math.ceil(parallelism / share), min)),
    isMaxGiven: raw.pool?.max !== undefined,
    taints: (raw.pool?.taints ?? []).map(taintOf),
    labels: raw.pool?.labels ?? {},
    zones: raw.pool?.zones ?? [],
    spotWindow: raw.pool?.spotWindow === "60s" ? 60 : 15,
  };
}

/** Named by what it is made of, so that workloads that need the same nodes share it. */
function poolName(raw: RawWorkload, capacity: string, accelerator: Accelerator | undefined): string {
  const machine = raw.machine ?? (accelerator && smallestMachine(accelerator.type, accelerator.count)) ?? "default";
  const isGuest = machine.startsWith("n1-") && accelerator;
  const gpus = isGuest ? `-${accelerator.type.replace(/^nvidia-(tesla-)?/, "")}-${accelerator.nodeCount}` : "";
  const isQueued = capacity === "flex-start" && (raw.flexStart?.mode ?? "plain") !== "plain";
  return `${isQueued ? "queued" : capacity}-${machine}${gpus}`.toLowerCase().slice(0, 39).replace(/-+$/, "");
}

function taintOf(text: string): Taint {
  const [, key = "", value = "", effect] = /^([^=]+)=([^:]*):(.+)$/.exec(text) ?? [];
  return { key, value, effect: effect as Taint["effect"] };
}

function storageOf(raw: RawStorage, index: number, workload: string): Storage {
  const name = raw.name ?? `${workload}-${index}`;
  const mount = raw.mount ?? "";
  const readOnly = raw.readOnly ?? false;
  if (raw.type === "gcs") return { type: "gcs", bucket: raw.bucket ?? "", readOnly };
  if (raw.type === "fuse") return { type: "fuse", name, bucket: raw.bucket ?? "", mount, readOnly };
  return {
    type: "pvc",
    name,
    mount,
    readOnly,
    size: raw.existing ? undefined : raw.size,
    access: raw.access ?? "ReadWriteOnce",
    storageClass: raw.storageClass,
    regional: raw.regional ?? false,
  };
}

function checkpointOf(raw: RawWorkload, settings: RawSettings): Checkpoint {
  const given = raw.checkpoint;
  const keep = given?.keep ?? one(settings.keep);
  return {
    dir: given?.dir ?? one(settings.dir) ?? "",
    store: given?.store ?? one(settings.store) ?? "",
    keep: keep === undefined ? undefined : Number(keep),
    interval: given?.interval === undefined ? undefined : String(given.interval),
    variables: { dir: given?.variables?.dir, interval: given?.variables?.interval },
    size: given?.size,
  };
}
