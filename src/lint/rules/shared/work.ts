import { accelerators, mainContainers, type PodTemplate } from "../../placement/pod-template.ts";
import { commandWords, isLongRunning, scriptOf, wordsOf } from "../../placement/script.ts";
import type { LintContext } from "../../rule.ts";
import type { Node } from "../../source/node.ts";
import { closest } from "./closest.ts";

const servers =
  /vllm|tritonserver|triton-inference|text-generation-inference|tgi\b|sglang|trtllm|tensorrt_llm|torchserve|tf-?serving|kserve|ollama|llama-?cpp|ray-?serve|bentoml|lmdeploy|jetstream|saxml|mlserver/i;

/** Whether a pod serves a model: by its image, its command, or an accelerator under a controller of services. */
export function isInference(template: PodTemplate): boolean {
  if (template.nature !== "serving") return false;
  if (template.object.kind === "RayService") return !template.isRayHead;
  const named = mainContainers(template).some(
    (container) => servers.test(container.image) || wordsOf(container).some((word) => servers.test(word.text ?? "")),
  );
  return named || (accelerators(template) > 0 && template.object.kind !== "RayCluster");
}

/** Whether a pod trains, or does other long work that has state to lose. */
export function isTraining(template: PodTemplate, context: LintContext): boolean {
  if (template.nature !== "job" && template.nature !== "pod") return false;
  if (accelerators(template) > 0) return true;
  return mainContainers(template).some((container) => {
    const script = scriptOf(container, template, context.ofKind);
    const texts = script ? script.commands.map(commandWords) : [wordsOf(container).map((word) => word.text ?? "")];
    return texts.some(
      (words) =>
        isLongRunning(words) &&
        words.some((word) => /train|finetune|fine_tune|sft|pretrain|torchrun|deepspeed/.test(word)),
    );
  });
}

/** Containers that belong to no controller of ours and must stay up: databases, queues, operators. */
export const criticalImages =
  /(?:^|\/)(?:kueue|jobset|kuberay\/operator|kuberay-operator|operator|controller-manager|postgres(?:ql)?|mysql|mariadb|mongo(?:db)?|redis|valkey|kafka|rabbitmq|nats|etcd|zookeeper|cassandra|elasticsearch|opensearch|cockroach|clickhouse-server|minio|temporal|prometheus|alertmanager)(?=[:@/-]|$)/i;

/** The failure policy's rules of a Job. */
export function policyRules(jobSpec: Node): readonly Node[] {
  return jobSpec.get("podFailurePolicy", "rules")?.items ?? [];
}

/** Whether a rule forgives evictions: it ignores the DisruptionTarget condition. */
export function forgivesEviction(rule: Node): boolean {
  return rule.get("action")?.text === "Ignore" && isAboutEviction(rule);
}

/** Whether a rule is about the DisruptionTarget condition. */
export function isAboutEviction(rule: Node): boolean {
  return (rule.get("onPodConditions")?.items ?? []).some((one) => one.get("type")?.text === "DisruptionTarget");
}

/** Whether evictions are taken care of: the Job ignores them, or its JobSet restarts without counting them. */
export function areEvictionsForgiven({ jobSpec, object }: PodTemplate): boolean {
  if (jobSpec && policyRules(jobSpec).some(forgivesEviction)) return true;
  if (object.kind !== "JobSet") return false;
  const policy = object.node.get("spec", "failurePolicy");
  const rules = policy?.get("rules")?.items ?? [];
  return (
    rules.some((rule) => rule.get("action")?.text === "RestartJobSetAndIgnoreMaxRestarts") ||
    (policy?.get("maxRestarts")?.number ?? 0) > 0
  );
}

/** Replicas of a controller: its own number, or the least that an autoscaler keeps. Undefined when another decides. */
export function replicasOf({ object, holder }: PodTemplate, context: LintContext): number | undefined {
  const scalers = [...context.ofKind("HorizontalPodAutoscaler"), ...context.ofKind("ScaledObject")].filter(
    ({ node }) => {
      const target = node.get("spec", "scaleTargetRef");
      return target?.get("name")?.text === object.name && (target.get("kind")?.text ?? object.kind) === object.kind;
    },
  );
  const [scaler] = closest(scalers, object.node);
  const least = scaler?.node.get("spec", "minReplicas") ?? scaler?.node.get("spec", "minReplicaCount");
  if (scaler) return least?.number ?? (scaler.kind === "ScaledObject" ? 0 : 1);
  const node = holder?.get("replicas") ?? object.node.get("spec", "replicas");
  if (!node) return 1;
  return node.number;
}

/** Whether a label selector picks a pod template. */
export function selects(selector: Node | undefined, template: PodTemplate): boolean {
  if (!selector) return false;
  const labels = template.metadata?.get("labels")?.record ?? {};
  const wanted = Object.entries(selector.get("matchLabels")?.record ?? {});
  const expressions = selector.get("matchExpressions")?.items ?? [];
  if (wanted.length === 0 && expressions.length === 0) return false;
  const isFor = expressions.every((one) => {
    const has = labels[one.get("key")?.text ?? ""];
    const values = one.get("values")?.strings ?? [];
    switch (one.get("operator")?.text ?? "") {
      case "In":
        return has !== undefined && values.includes(has);
      case "NotIn":
        return has === undefined || !values.includes(has);
      case "Exists":
        return has !== undefined;
      default:
        return has === undefined;
    }
  });
  return isFor && wanted.every(([key, value]) => labels[key] === value);
}

/** Whether two objects can see each other. An unset namespace is settled by the command that applies the file: it may be any. */
export function isSameNamespace(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}
