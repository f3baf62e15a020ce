import type { Workload } from "../spec/workload/index.ts";
import { type Described, type Plain, separate } from "./why.ts";

/** A Kubernetes object, as plain data. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: Plain | undefined };
  readonly [key: string]: Plain | undefined;
}

/** An object, what it is for, and why its fields are as they are. */
export interface ManifestObject {
  readonly object: KubeObject;
  readonly purpose: string;
  /** By JSON pointer. */
  readonly comments: ReadonlyMap<string, string>;
}

/** A command to run once, before the objects are applied. */
export interface Step {
  readonly purpose: string;
  readonly argv: readonly string[];
  /** A file that the command reads, written just before it. */
  readonly file?: { readonly name: string; readonly text: string };
}

/** Everything that one workload needs. */
export interface WorkloadManifest {
  readonly workload: Workload;
  readonly objects: readonly ManifestObject[];
  readonly steps: readonly Step[];
  /** Empty where no pool is to be made. */
  readonly terraform: string;
  /** What has to be true of the cluster, and cannot be seen from here. */
  readonly notes: readonly string[];
}

/** An object as it is written here: kind, name, purpose, and the rest with its reasons. */
export function manifestObject(
  apiVersion: string,
  kind: string,
  metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly [key: string]: Described | undefined;
  },
  purpose: string,
  rest: { readonly [key: string]: Described | undefined },
): ManifestObject {
  const { plain, comments } = separate({ apiVersion, kind, metadata, ...rest });
  // Built from the three fields above, which is what the type says.
  return { object: plain as unknown as KubeObject, purpose, comments };
}
