import { isDeepStrictEqual } from "node:util";
import { OutlastError } from "../core/index.ts";
import type { Workload } from "../spec/workload/index.ts";
import {
  disruptionBudget,
  namespaceObject,
  priorityClass,
  serviceAccount,
  shardService,
  storageObjects,
} from "./parts/cluster-objects.ts";
import { computeClass } from "./parts/compute-class.ts";
import { kueueObjects, provisioningRequest } from "./parts/flex-start.ts";
import { job } from "./parts/job.ts";
import { scaledJob, scaledObject, triggerAuthentication } from "./parts/keda.ts";
import { usesPool } from "./names.ts";
import type { ManifestOptions } from "./parts/pod.ts";
import { deployment, service } from "./parts/serve.ts";
import { watchRights } from "./parts/watch.ts";
import { googleSteps } from "./setup/google.ts";
import { nodePoolSteps } from "./setup/node-pool.ts";
import { notesOf } from "./setup/notes.ts";
import { poolTerraform } from "./setup/terraform.ts";
import type { ManifestObject, WorkloadManifest } from "./types.ts";

/** Makes everything a workload needs: objects in the order they are applied, commands, Terraform, and what to look at. */
export function buildManifest(workload: Workload, options: ManifestOptions): WorkloadManifest {
  return {
    workload,
    objects: [...surroundings(workload), ...work(workload, options)].flatMap((one) => one ?? []),
    steps: [...nodePoolSteps(workload), ...googleSteps(workload)],
    terraform: poolTerraform(workload),
    notes: notesOf(workload, options.outlastImage),
  };
}

/** Makes the manifests of all workloads of a file; what they share stands once, with the first that needs it. */
export function buildManifests(workloads: readonly Workload[], options: ManifestOptions): readonly WorkloadManifest[] {
  const shared = shareLimits(workloads);
  const objects = new Map<string, ManifestObject>();
  const pools = new Map<string, string>();
  const commands = new Set<string>();
  return shared.map((workload) => {
    const built = buildManifest(workload, options);
    const hasPool = built.terraform !== "" && claim(pools, built.terraform, workload);
    return {
      ...built,
      objects: built.objects.filter((one) => isNew(one, objects, workload)),
      terraform: hasPool ? built.terraform : "",
      steps: built.steps.filter(({ argv }) => {
        const known = commands.size;
        return commands.add(argv.join("\0")).size > known;
      }),
    };
  });
}

/** A pool that several workloads use has room for all of them, unless one says how large it is. */
function shareLimits(workloads: readonly Workload[]): readonly Workload[] {
  const key = ({ cluster, pool }: Workload) => `${cluster.name}/${pool.name}`;
  return workloads.map((workload) => {
    const pools = workloads.filter((one) => usesPool(one) && key(one) === key(workload)).map(({ pool }) => pool);
    if (pools.length < 2 || !usesPool(workload)) return workload;
    const given = pools.filter(({ isMaxGiven }) => isMaxGiven).map(({ max }) => max);
    const max =
      given.length > 0
        ? Math.max(...given)
        : Math.min(
            1000,
            pools.reduce((sum, one) => sum + one.max, 0),
          );
    return { ...workload, pool: { ...workload.pool, min: Math.max(...pools.map(({ min }) => min)), max } };
  });
}

function surroundings(workload: Workload): readonly (ManifestObject | undefined)[] {
  return [
    namespaceObject(workload),
    serviceAccount(workload),
    priorityClass(workload),
    ...storageObjects(workload),
    ...(workload.capacity.length > 1 ? [computeClass(workload)] : []),
    ...(workload.watch ? watchRights(workload) : []),
  ];
}

function work(workload: Workload, options: ManifestOptions): readonly (ManifestObject | undefined)[] {
  const { kind, workers, capacity, flexStart } = workload;
  if (kind === "serve") return [deployment(workload, options), service(workload), disruptionBudget(workload)];
  const budget = disruptionBudget(workload);
  if (kind === "batch" && workers === "scaled-job")
    return [triggerAuthentication(workload), scaledJob(workload, options), budget];
  if (kind === "batch" && workers === "deployment") {
    return [triggerAuthentication(workload), deployment(workload, options), scaledObject(workload), budget];
  }
  const isFlex = capacity.length === 1 && capacity[0] === "flex-start";
  return [
    ...(isFlex && flexStart.mode === "queued" ? provisioningRequest(workload) : []),
    ...(isFlex && flexStart.mode === "kueue" ? kueueObjects(workload) : []),
    shardService(workload),
    job(workload, options),
    budget,
  ];
}

/** Whether an object was not there before; refuses two different objects of one name. */
function isNew(one: ManifestObject, seen: Map<string, ManifestObject>, { name: workload }: Workload): boolean {
  const { kind, metadata } = one.object;
  const key = `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  const before = seen.get(key);
  seen.set(key, before ?? one);
  if (!before) return true;
  if (isDeepStrictEqual(before.object, one.object)) return false;
  throw differs(`${kind} ${metadata.name}`, workload);
}

/** Whether a pool was not there before; refuses two different pools of one name. */
function claim(pools: Map<string, string>, terraform: string, { name, cluster, pool }: Workload): boolean {
  const key = `${cluster.name}/${pool.name}`;
  const before = pools.get(key);
  pools.set(key, terraform);
  if (before === undefined) return true;
  if (before === terraform) return false;
  throw differs(`node pool ${pool.name}`, name);
}

function differs(what: string, workload: string): OutlastError {
  return new OutlastError(
    "OUTLAST_CONFIG",
    `${what} is wanted in two different ways; the second is the workload ${workload}`,
    {
      hint: "give one of them another name, or make both the same",
    },
  );
}
