import type { Node } from "./node.ts";
import type { YamlDocument } from "./parse-yaml.ts";

/** A Kubernetes object with its place. */
export interface KubeObject {
  readonly node: Node;
  readonly apiVersion: string;
  /** The API group: `batch` of `batch/v1`; empty for core objects. */
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
}

/** Objects of a document; lists are taken apart. */
export function objectsOf(document: YamlDocument): KubeObject[] {
  const objects: KubeObject[] = [];
  const left = document.root ? [document.root] : [];
  while (left.length > 0 && objects.length < 100_000) {
    const node = left.shift();
    if (node?.kind === "list") {
      left.push(...node.items);
      continue;
    }
    const kind = node?.get("kind")?.string;
    const apiVersion = node?.get("apiVersion")?.string;
    if (!node || !kind || !apiVersion) continue;
    const items = node.get("items");
    if (kind.endsWith("List") && items?.kind === "list") {
      left.push(...items.items);
      continue;
    }
    objects.push({
      node,
      apiVersion,
      group: apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "",
      kind,
      name: node.get("metadata", "name")?.text ?? node.get("metadata", "generateName")?.text ?? "",
      namespace: node.get("metadata", "namespace")?.text,
    });
  }
  return objects;
}
