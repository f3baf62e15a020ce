import type { KubeObject, WorkloadManifest } from "../../src/manifests/index.ts";
import { shapeFaults } from "./shapes.ts";

type Has = (kind: string, name: string) => boolean;

const name = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const labelKey = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** What stands at a path of plain data; undefined where there is nothing. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function map(value: unknown): Readonly<Record<string, string>> {
  return (value ?? {}) as Readonly<Record<string, string>>;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Everything the platform would refuse or silently get wrong about a workload's objects. */
export function faultsOf({ workload, objects }: Pick<WorkloadManifest, "workload" | "objects">): string[] {
  const all = objects.map(({ object }) => object);
  const has: Has = (kind, wanted) => all.some((one) => one.kind === kind && one.metadata.name === wanted);
  return all.flatMap((object) =>
    [...shapeFaults(object), ...metadataFaults(object), ...kindFaults(object, workload, has)].map(
      (fault) => `${object.kind}/${object.metadata.name}: ${fault}`,
    ),
  );
}

function kindFaults(object: KubeObject, workload: WorkloadManifest["workload"], has: Has): string[] {
  const { kind, spec } = object;
  const faults: string[] = [];
  const template = at(spec, "template") ?? at(spec, "jobTargetRef", "template");
  if (kind === "Job") faults.push(...jobFaults(spec));
  if (kind === "ScaledJob") faults.push(...jobFaults(at(spec, "jobTargetRef")));
  if (/^Scaled/.test(kind) && !has("TriggerAuthentication", workload.name)) faults.push("no TriggerAuthentication");
  if (template !== undefined) faults.push(...podFaults(template, workload, has));
  if (kind === "PriorityClass" && workload.cluster.mode === "standard" && Number(object["value"]) < -10) {
    faults.push("priority below -10");
  }
  if (kind === "ComputeClass") faults.push(...list(at(spec, "priorities")).flatMap(ruleFaults));
  if (kind === "ProvisioningRequest" && !has("PodTemplate", text(at(spec, "podSets", 0, "podTemplateRef", "name")))) {
    faults.push("no PodTemplate");
  }
  if (kind === "Deployment") {
    const labels = map(at(template, "metadata", "labels"));
    const wanted = Object.entries(map(at(spec, "selector", "matchLabels")));
    if (wanted.some(([key, value]) => labels[key] !== value)) faults.push("the selector misses its own pods");
  }
  return faults;
}

function metadataFaults({ metadata, kind }: KubeObject): string[] {
  return [
    ...(name.test(metadata.name) && metadata.name.length <= 63 ? [] : [`name ${metadata.name}`]),
    ...(kind === "Service" && !/^[a-z]/.test(metadata.name) ? ["a Service's name begins with a letter"] : []),
    ...labelFaults(map(metadata["labels"])),
  ];
}

function labelFaults(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels)
    .filter(([key, value]) => !labelKey.test(key) || !labelValue.test(value) || value.length > 63)
    .map(([key, value]) => `label ${key}=${value}`);
}

function jobFaults(spec: unknown): string[] {
  const faults: string[] = [];
  const rules = list(at(spec, "podFailurePolicy", "rules"));
  if (rules.length === 0) return ["no podFailurePolicy: the seventh preemption would end it"];
  const pod = at(spec, "template", "spec");
  if (at(pod, "restartPolicy") !== "Never") faults.push("podFailurePolicy needs restartPolicy Never");
  if (at(spec, "podReplacementPolicy") !== "Failed") faults.push("podReplacementPolicy may only be Failed");
  const [first] = rules;
  if (at(first, "action") !== "Ignore" || at(first, "onPodConditions", 0, "type") !== "DisruptionTarget") {
    faults.push("the first rule forgives no disruption");
  }
  const isIndexed = at(spec, "completionMode") === "Indexed";
  const hasOwnBudgets = at(spec, "backoffLimitPerIndex") !== undefined;
  const containers = list(at(pod, "containers")).map((one) => at(one, "name"));
  for (const rule of rules) {
    const codes = at(rule, "onExitCodes");
    if (Boolean(codes) === Boolean(at(rule, "onPodConditions"))) faults.push("a rule is about codes or conditions");
    if (at(rule, "action") === "FailIndex" && !hasOwnBudgets) faults.push("FailIndex needs backoffLimitPerIndex");
    if (codes === undefined) continue;
    const values = list(at(codes, "values")).map(Number);
    if (!containers.includes(at(codes, "containerName"))) faults.push("a rule names a container that is not there");
    if (values.some((value, index) => value === 0 || value <= (values[index - 1] ?? 0))) {
      faults.push("exit codes are sorted, unique and not 0");
    }
    if (at(rule, "action") === "Ignore" && values.includes(77)) faults.push("77 is forgiven");
  }
  const forgiven = rules
    .filter((rule) => at(rule, "action") === "Ignore")
    .flatMap((rule) => list(at(rule, "onExitCodes", "values")));
  if (!forgiven.includes(75)) faults.push("75 is not forgiven");
  const completions = at(spec, "completions");
  if (Number(completions ?? 1) > 1 && !isIndexed) faults.push("several completions without an index");
  if (hasOwnBudgets && !isIndexed) faults.push("backoffLimitPerIndex without an index");
  if (completions !== undefined && Number(at(spec, "parallelism")) > Number(completions))
    faults.push("more pods than work");
  if (!isIndexed && /"--per-index"|"--shard"/.test(JSON.stringify(at(pod, "containers", 0, "command")))) {
    faults.push("an index is used and there is none");
  }
  return faults;
}

function podFaults(template: unknown, workload: WorkloadManifest["workload"], has: Has): string[] {
  const spec = at(template, "spec");
  return [
    ...placementFaults(spec, workload, has),
    ...volumeFaults(template),
    ...[...list(at(spec, "initContainers")), ...list(at(spec, "containers"))].flatMap(containerFaults),
    ...entryFaults(spec, workload),
    ...(has("ServiceAccount", text(at(spec, "serviceAccountName"))) ? [] : ["the ServiceAccount is missing"]),
    ...(at(spec, "priorityClassName") === undefined || has("PriorityClass", text(at(spec, "priorityClassName")))
      ? []
      : ["the PriorityClass is missing"]),
  ];
}

function placementFaults(spec: unknown, { cluster, capacity, pool }: WorkloadManifest["workload"], has: Has): string[] {
  const selector = map(at(spec, "nodeSelector"));
  const faults = labelFaults(selector);
  const tolerations = list(at(spec, "tolerations"));
  const tolerates = (key: string) => tolerations.some((one) => at(one, "key") === key);
  const isSpot = selector["cloud.google.com/gke-spot"] === "true";
  const isFlex = selector["cloud.google.com/gke-flex-start"] === "true";
  const ofClass = selector["cloud.google.com/compute-class"];
  if (Number(isSpot) + Number(isFlex) + Number(ofClass !== undefined) > 1)
    faults.push("capacity selectors contradict each other");
  if (isSpot && cluster.mode === "standard" && !tolerates("cloud.google.com/gke-spot")) {
    faults.push("Spot is selected and its taint not tolerated");
  }
  if (!isSpot && tolerates("cloud.google.com/gke-spot")) faults.push("tolerates Spot without selecting it");
  if (ofClass !== undefined && !has("ComputeClass", ofClass)) faults.push("the ComputeClass is missing");
  if (tolerations.some((one) => at(one, "operator") === "Exists" && at(one, "value") !== undefined))
    faults.push("Exists with a value");
  const asksForGpus = list(at(spec, "containers")).some(
    (one) => at(one, "resources", "limits", "nvidia.com/gpu") !== undefined,
  );
  if (asksForGpus && !tolerates("nvidia.com/gpu")) faults.push("GPUs are asked for and their taint not tolerated");
  const grace = Number(at(spec, "terminationGracePeriodSeconds"));
  if (capacity.includes("spot") && grace > pool.spotWindow) faults.push("a grace that Spot does not give");
  return faults;
}

function volumeFaults(template: unknown): string[] {
  const spec = at(template, "spec");
  const volumes = list(at(spec, "volumes")).map((one) => text(at(one, "name")));
  const mounted = [...list(at(spec, "initContainers")), ...list(at(spec, "containers"))].flatMap((one) =>
    list(at(one, "volumeMounts")).map((mount) => text(at(mount, "name"))),
  );
  const mountsFuse = list(at(spec, "volumes")).some((one) => at(one, "csi", "driver") === "gcsfuse.csi.storage.gke.io");
  return [
    ...(new Set(volumes).size === volumes.length ? [] : ["two volumes of one name"]),
    ...volumes.filter((one) => !mounted.includes(one)).map((one) => `volume ${one} is mounted nowhere`),
    ...mounted.filter((one) => !volumes.includes(one)).map((one) => `mount of ${one}, which is no volume`),
    ...(mountsFuse && at(template, "metadata", "annotations", "gke-gcsfuse/volumes") !== "true"
      ? ["FUSE without its sidecar"]
      : []),
  ];
}

function containerFaults(container: unknown): string[] {
  const env = list(at(container, "env"));
  const places = list(at(container, "volumeMounts")).map((one) => at(one, "mountPath"));
  return [
    ...(new Set(places).size === places.length ? [] : ["two mounts at one place"]),
    ...(new Set(env.map((one) => at(one, "name"))).size === env.length ? [] : ["a variable twice"]),
    ...env
      .filter((one) => (at(one, "value") === undefined) === (at(one, "valueFrom") === undefined))
      .map((one) => `variable ${text(at(one, "name"))} needs one source`),
    ...(at(container, "lifecycle") === undefined ? [] : ["preStop spends the grace"]),
  ];
}

function entryFaults(spec: unknown, { kind }: WorkloadManifest["workload"]): string[] {
  if (kind === "serve") return [];
  const command = at(spec, "containers", 0, "command");
  return ["run", "work"].includes(text(at(command, 1))) ? [] : ["outlast is not the entry point"];
}

function ruleFaults(rule: unknown): string[] {
  const isSpot = at(rule, "spot") === true;
  const isFlex = at(rule, "flexStart") !== undefined;
  const life = Number(at(rule, "maxRunDurationSeconds"));
  const kubelet = at(rule, "nodeSystemConfig", "kubeletConfig");
  const critical = Number(at(kubelet, "shutdownGracePeriodCriticalPodsSeconds"));
  return [
    ...(isFlex && isSpot ? ["flexStart with spot"] : []),
    ...(isFlex && !(life >= 600 && life <= 604_800) ? ["a flex-start node's life"] : []),
    ...(kubelet !== undefined && !isSpot ? ["a shutdown window on a rule that is not Spot"] : []),
    ...(kubelet !== undefined && !(critical < Number(at(kubelet, "shutdownGracePeriodSeconds")))
      ? ["the critical part is the whole"]
      : []),
  ];
}
