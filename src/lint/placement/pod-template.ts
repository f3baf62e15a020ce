import type { KubeObject } from "../source/kube-object.ts";
import type { Node } from "../source/node.ts";

/** One container with what rules ask of it. */
export interface Container {
  readonly node: Node;
  readonly name: string;
  readonly image: string;
  readonly command: readonly Node[];
  readonly args: readonly Node[];
  /** Starts before the main containers: an init container, or a native sidecar when it restarts always. */
  readonly isInit: boolean;
  readonly isSidecar: boolean;
}

/** What kind of work a pod does, as its controller tells. */
export type Nature = "job" | "serving" | "daemon" | "pod" | "other";

/** A pod template, whatever kind holds it. */
export interface PodTemplate {
  readonly object: KubeObject;
  /** Where it stands in the object, such as `spec.template`. */
  readonly path: string;
  /** The mapping that holds `spec`, and often `metadata`. */
  readonly node: Node;
  readonly spec: Node;
  readonly metadata: Node | undefined;
  /** The mapping around the template: a Job's spec, a replica spec, a worker group. */
  readonly holder: Node | undefined;
  readonly nature: Nature;
  /** The Job's spec, for a Job, a CronJob and each job of a JobSet. */
  readonly jobSpec: Node | undefined;
  /** The job of a JobSet with its name and replicas. */
  readonly replicatedJob: Node | undefined;
  readonly isRayHead: boolean;
  readonly containers: readonly Container[];
}

const jobKinds = new Set([
  "Job",
  "CronJob",
  "JobSet",
  "RayJob",
  "PyTorchJob",
  "TFJob",
  "MPIJob",
  "XGBoostJob",
  "PaddleJob",
  "JAXJob",
  "TrainJob",
  "TrainingRuntime",
  "ClusterTrainingRuntime",
  "Workflow",
  "WorkflowTemplate",
  "CronWorkflow",
  "ClusterWorkflowTemplate",
  "ScaledJob",
  "VolcanoJob",
  "AppWrapper",
]);
const servingKinds = new Set([
  "Deployment",
  "ReplicaSet",
  "StatefulSet",
  "Rollout",
  "LeaderWorkerSet",
  "RayService",
  "RayCluster",
  "ReplicationController",
  "Service",
]);
/** Kinds that hold the words without meaning them. */
const passed = new Set(["CustomResourceDefinition", "ConfigMap", "Secret", "ValidatingAdmissionPolicy"]);

/** What kind of work an object is for. */
export function natureOf(kind: string): Nature {
  if (jobKinds.has(kind)) return "job";
  if (servingKinds.has(kind)) return "serving";
  if (kind === "DaemonSet") return "daemon";
  return kind === "Pod" ? "pod" : "other";
}

interface Step {
  readonly node: Node;
  readonly path: string;
  readonly parents: readonly Node[];
}

/** Every pod template of an object: any mapping under `spec` with a list of named containers, and Argo's single ones. */
export function podTemplatesOf(object: KubeObject): PodTemplate[] {
  if (passed.has(object.kind)) return [];
  const templates: PodTemplate[] = [];
  const seen = new Set<Node>();
  const left: Step[] = [{ node: object.node, path: "", parents: [] }];
  // A file of aliases reaches the same nodes by many ways: each is looked at once.
  for (let step = left.pop(); step && seen.size < 50_000; step = left.pop()) {
    const { node, path, parents } = step;
    if (seen.has(node) || path.length > 2000) continue;
    seen.add(node);
    if (node.kind === "list") {
      for (const [i, item] of node.items.entries()) left.push({ node: item, path: `${path}[${i}]`, parents });
      continue;
    }
    if (node.kind !== "map") continue;
    const spec = node.get("spec");
    if (spec && isPodSpec(spec)) templates.push(make(object, node, spec, path, parents));
    else if (isArgoTemplate(object, node)) templates.push(make(object, node, node, path, parents));
    for (const { name, value } of node.entries) {
      if (value.kind === "scalar" || name === "status") continue;
      left.push({ node: value, path: path ? `${path}.${name}` : name, parents: [...parents, node] });
    }
  }
  return templates.sort((a, b) => a.spec.start - b.spec.start);
}

function isPodSpec(spec: Node): boolean {
  const list = spec.get("containers");
  return (
    list?.kind === "list" &&
    list.items.length > 0 &&
    list.items.every((item) => item.get("name") !== undefined || item.get("image") !== undefined)
  );
}

function isArgoTemplate(object: KubeObject, node: Node): boolean {
  return (
    object.group === "argoproj.io" && node.get("container", "image") !== undefined && node.get("name") !== undefined
  );
}

function make(object: KubeObject, node: Node, spec: Node, path: string, parents: readonly Node[]): PodTemplate {
  const holder = parents.at(-1);
  const isBatch =
    (object.group === "batch" && (object.kind === "Job" || object.kind === "CronJob")) || object.kind === "JobSet";
  return {
    object,
    path,
    node,
    spec,
    metadata: node.get("metadata"),
    holder,
    nature: natureOf(object.kind),
    jobSpec: isBatch && path.endsWith("template") ? holder : undefined,
    replicatedJob:
      object.kind === "JobSet" ? parents.findLast((one) => one.get("template") && one.get("name")) : undefined,
    isRayHead: path.includes("headGroupSpec"),
    containers: containersOf(spec),
  };
}

function containersOf(spec: Node): Container[] {
  const single = spec.get("container");
  const main = spec.get("containers")?.items ?? (single ? [single] : []);
  return [
    ...(spec.get("initContainers")?.items ?? []).map((node) => containerOf(node, true)),
    ...main.map((node) => containerOf(node, false)),
  ];
}

function containerOf(node: Node, isInit: boolean): Container {
  const list = (name: string): readonly Node[] => {
    const found = node.get(name);
    return found?.kind === "list" ? found.items : found?.text === undefined ? [] : [found];
  };
  return {
    node,
    name: node.get("name")?.text ?? "",
    image: node.get("image")?.text ?? "",
    command: list("command"),
    args: list("args"),
    isInit,
    isSidecar: isInit && node.get("restartPolicy")?.text === "Always",
  };
}

/** Containers whose end is the pod's end. */
export function mainContainers(template: PodTemplate): readonly Container[] {
  return template.containers.filter((container) => !container.isInit);
}

/** How many of a resource one pod asks for, over its main containers. */
export function requested(template: PodTemplate, resource: string): number {
  let sum = 0;
  for (const { node } of mainContainers(template)) {
    const resources = node.get("resources");
    sum += resources?.get("limits", resource)?.number ?? resources?.get("requests", resource)?.number ?? 0;
  }
  return sum;
}

/** GPUs and TPU chips one pod asks for. */
export function accelerators(template: PodTemplate): number {
  return requested(template, "nvidia.com/gpu") + requested(template, "google.com/tpu");
}

/** An annotation or label of the pod template or, for a whole object, of the object. */
export function annotation(metadata: Node | undefined, name: string): Node | undefined {
  return metadata?.get("annotations", name);
}
