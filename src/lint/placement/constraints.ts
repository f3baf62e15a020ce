import { keys } from "../facts/keys.ts";
import type { Taint } from "../pools/pool.ts";
import type { Node } from "../source/node.ts";
import type { Span } from "../source/source-file.ts";
import { annotation, type PodTemplate, requested } from "./pod-template.ts";

/** One demand on a node's labels. */
export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
  readonly span: Span;
}

/** A toleration as written. */
export interface Toleration {
  readonly key: string | undefined;
  readonly operator: string;
  readonly value: string;
  readonly effect: string | undefined;
  readonly node: Node;
}

/** What a pod asks of its node. */
export interface Constraints {
  /** One of these lists must hold as a whole. */
  readonly alternatives: readonly (readonly Requirement[])[];
  /** What it would rather have. */
  readonly preferred: readonly Requirement[];
  readonly tolerations: readonly Toleration[];
}

/** Reads selectors, affinity and tolerations. Argo keeps defaults for all templates on the workflow. */
export function constraintsOf(template: PodTemplate): Constraints {
  const { spec, object } = template;
  const shared =
    object.group === "argoproj.io" ? (object.node.get("spec", "workflowSpec") ?? object.node.get("spec")) : undefined;
  const field = (name: string): Node | undefined => spec.get(name) ?? shared?.get(name);
  const selector = (field("nodeSelector")?.entries ?? []).map(({ name, key, value }) => ({
    key: name,
    operator: "In",
    values: value.text === undefined ? [] : [value.text],
    span: { file: key.file, start: key.start, end: Math.max(value.end, key.end) },
  }));
  const affinity = field("affinity")?.get("nodeAffinity");
  const terms = affinity?.get("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")?.items ?? [];
  const preferred = affinity?.get("preferredDuringSchedulingIgnoredDuringExecution")?.items ?? [];
  return {
    alternatives: terms.length > 0 ? terms.map((term) => [...selector, ...requirementsOf(term)]) : [selector],
    preferred: preferred.flatMap((one) => requirementsOf(one.get("preference"))),
    tolerations: (field("tolerations")?.items ?? []).map((node) => ({
      key: node.get("key")?.text,
      operator: node.get("operator")?.text ?? "Equal",
      value: node.get("value")?.text ?? "",
      effect: node.get("effect")?.text,
      node,
    })),
  };
}

function requirementsOf(term: Node | undefined): Requirement[] {
  return (term?.get("matchExpressions")?.items ?? []).map((node) => ({
    key: node.get("key")?.text ?? "",
    operator: node.get("operator")?.text ?? "In",
    values: node.get("values")?.strings ?? [],
    span: node,
  }));
}

/** Whether a toleration accepts a taint. */
export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (!key) return operator === "Exists";
  return key === taint.key && (operator === "Exists" || value === taint.value);
}

/** Taints that GKE or Kubernetes lets a pod pass without being asked. */
export function isToleratedByItself(taint: Taint, template: PodTemplate, isAutopilot: boolean): boolean {
  if (taint.effect === "PreferNoSchedule") return true;
  switch (taint.key) {
    case "nvidia.com/gpu":
      return requested(template, "nvidia.com/gpu") > 0;
    case "google.com/tpu":
      return requested(template, "google.com/tpu") > 0;
    case keys.computeClass:
      return template.spec.get("nodeSelector", keys.computeClass)?.text === taint.value;
    case keys.queued:
      return consumesRequest(template);
    case keys.spot:
    case keys.flexStart:
      return isAutopilot;
    default:
      return false;
  }
}

/** Whether a pod uses a ProvisioningRequest, by its own annotation or through Kueue. */
export function consumesRequest({ metadata, object }: PodTemplate): boolean {
  const own = [metadata, object.node.get("metadata")];
  return (
    own.some((meta) => annotation(meta, keys.consumeRequest) ?? annotation(meta, keys.oldConsumeRequest)) ||
    own.some((meta) => meta?.get("labels", keys.kueueQueue))
  );
}
