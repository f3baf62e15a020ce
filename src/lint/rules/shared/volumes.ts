import type { Container, PodTemplate } from "../../placement/pod-template.ts";
import type { LintContext } from "../../rule.ts";
import type { Node } from "../../source/node.ts";
import { closest } from "./closest.ts";
import { isSameNamespace } from "./work.ts";

/** What lies under a path of a container. */
export interface Place {
  readonly kind: "emptyDir" | "hostPath" | "ephemeral" | "pvc" | "gcsfuse" | "local" | "other" | "containerFs";
  readonly mount: Node | undefined;
  readonly volume: Node | undefined;
  /** The claim or persistent volume, when it is among the objects. */
  readonly claim: Node | undefined;
}

/** The longest mount that holds a path, and what is behind it. */
export function placeOf(path: string, container: Container, template: PodTemplate, context: LintContext): Place {
  let best: Node | undefined;
  for (const mount of container.node.get("volumeMounts")?.items ?? []) {
    const at = mount.get("mountPath")?.text?.replace(/\/+$/, "");
    if (!at || !(path === at || path.startsWith(`${at}/`))) continue;
    if (at.length > (best?.get("mountPath")?.text ?? "").length) best = mount;
  }
  if (!best) return { kind: "containerFs", mount: undefined, volume: undefined, claim: undefined };
  const name = best.get("name")?.text;
  const volume = template.spec.get("volumes")?.items.find((one) => one.get("name")?.text === name);
  const templates = template.holder?.get("volumeClaimTemplates")?.items ?? [];
  const claim = volume
    ? claimOf(volume, template, context)
    : templates.find((one) => one.get("metadata", "name")?.text === name);
  return { mount: best, volume, claim, kind: volume ? kindOf(volume, claim, context) : claim ? "pvc" : "other" };
}

function kindOf(volume: Node, claim: Node | undefined, context: LintContext): Place["kind"] {
  if (volume.get("emptyDir")) return "emptyDir";
  if (volume.get("hostPath")) return "hostPath";
  if (volume.get("ephemeral")) return "ephemeral";
  if (volume.get("csi", "driver")?.text === gcsFuseDriver) return "gcsfuse";
  if (!volume.get("persistentVolumeClaim")) return volume.get("nfs") || volume.get("csi") ? "other" : "other";
  const storage = claim?.get("spec", "storageClassName")?.text;
  const provisioner = context
    .ofKind("StorageClass")
    .find((one) => one.name === storage)
    ?.node.get("provisioner")?.text;
  if (provisioner === "kubernetes.io/no-provisioner" || /^local(?:-|$)/.test(storage ?? "")) return "local";
  return "pvc";
}

/** The driver of Cloud Storage FUSE. */
export const gcsFuseDriver = "gcsfuse.csi.storage.gke.io";

/** The PersistentVolumeClaim that a volume names, in the same namespace. */
export function claimOf(volume: Node, { object }: PodTemplate, context: LintContext): Node | undefined {
  const name = volume.get("persistentVolumeClaim", "claimName")?.text;
  if (!name) return undefined;
  const found = context
    .ofKind("PersistentVolumeClaim")
    .filter((one) => one.name === name && isSameNamespace(one.namespace, object.namespace));
  return closest(found, volume)[0]?.node;
}
