import { isOutlastError } from "../../core/index.ts";
import type { CommitState, LogState } from "../log/state.ts";
import { getManifest } from "../manifest-codec.ts";
import type { RunStore } from "../run-store.ts";

/** The objects a commit names. */
export interface NamedObjects {
  readonly manifests: ReadonlySet<string>;
  readonly chunks: ReadonlySet<string>;
}

/** Reads which objects a commit names; undefined when one of its manifests is missing or damaged. */
export async function namedObjects(
  run: RunStore,
  state: LogState,
  commit: CommitState,
  signal?: AbortSignal,
  /** Manifests read before, by key; they never change. */
  known: Map<string, readonly string[]> = new Map(),
): Promise<NamedObjects | undefined> {
  const manifests = new Set<string>();
  const chunks = new Set<string>();
  for (const ref of commit.manifests) {
    manifests.add(ref.key);
    try {
      const keys =
        known.get(ref.key) ?? (await getManifest(run, ref, state.hash, signal)).chunks.map((chunk) => chunk.key);
      known.set(ref.key, keys);
      for (const key of keys) chunks.add(key);
    } catch (error) {
      if (isOutlastError(error, "OUTLAST_OBJECT_NOT_FOUND", "OUTLAST_CHECKPOINT_DAMAGED", "OUTLAST_MANIFEST_INVALID"))
        return undefined;
      throw error;
    }
  }
  return { manifests, chunks };
}
