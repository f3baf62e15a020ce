import { commitAt, type LogState } from "../log/state.ts";
import type { Manifest, ManifestChunk } from "../manifest.ts";

/**
 * Which stored chunks this start may name again instead of sending: those of the commit it restored and verified, and of its own commits. Never
 * any other's: a chunk that nobody here has checked may be gone.
 */
export class ReuseBook {
  readonly #chunks = new Map<string, ManifestChunk>();
  readonly #commits = new Set<number>();

  /** Takes in the chunks of a commit that this start has verified or made. The newest commit that names a chunk is the one cited. */
  add(commit: number, manifests: Iterable<Manifest>): void {
    this.#commits.add(commit);
    for (const manifest of manifests) {
      for (const { key, hash, size } of manifest.chunks) this.#chunks.set(hash, { key, hash, size, from: commit });
    }
  }

  /** Whether a commit's chunks were taken in. */
  knows(commit: number): boolean {
    return this.#commits.has(commit);
  }

  /** What may be reused in this state, by hash. */
  reusable(state: LogState): ReadonlyMap<string, ManifestChunk> {
    const live = new Map<string, ManifestChunk>();
    for (const [hash, chunk] of this.#chunks) {
      const source = chunk.from === undefined ? undefined : commitAt(state, chunk.from);
      if (source && !source.damaged) live.set(hash, chunk);
      else this.#chunks.delete(hash);
    }
    return live;
  }
}
