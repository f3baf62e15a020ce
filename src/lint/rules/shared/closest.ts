import { dirname } from "node:path";
import type { KubeObject } from "../../source/kube-object.ts";
import type { Node } from "../../source/node.ts";

/**
 * Of objects that answer to a name, those nearest in the tree of folders. In a tree of many projects the same names come again and
 * again; the one next door is the one that is meant.
 */
export function closest(objects: readonly KubeObject[], from: Node): readonly KubeObject[] {
  if (objects.length < 2) return objects;
  const ranked = objects.map((object) => ({ object, depth: sharedDepth(object.node.file.path, from.file.path) }));
  const best = Math.max(...ranked.map(({ depth }) => depth));
  return ranked.filter(({ depth }) => depth === best).map(({ object }) => object);
}

/** How many folders two paths share; the same file is nearer than any folder. */
export function sharedDepth(a: string, b: string): number {
  if (a === b) return Number.POSITIVE_INFINITY;
  const [x, y] = [dirname(a).split("/"), dirname(b).split("/")];
  let i = 0;
  while (i < x.length && i < y.length && x[i] === y[i]) i += 1;
  // A folder next to the other's is a little farther than the same one.
  return i - (x.length - i) * 0.01 - (y.length - i) * 0.01;
}
