import { without } from "../tree.ts";
import type { Candidate, Convention, ReadSmall, Scan } from "../types.ts";
import { accelerate } from "./accelerate.ts";
import { createDcp } from "./dcp.ts";
import { huggingFace } from "./hugging-face.ts";
import { lightning } from "./lightning.ts";
import { orbax } from "./orbax.ts";
import { singleFile } from "./single-file.ts";

export { createGeneric } from "./generic.ts";
export { createUserPattern } from "./user-pattern.ts";
export { accelerate, createDcp, huggingFace, lightning, orbax, singleFile };

/**
 * Frameworks with a layout of their own, in the order in which they may claim a folder: those that nest others' layouts come first (a
 * Trainer or Accelerate folder may hold DCP folders, a Lightning folder holds DCP files).
 */
export function frameworks({ isShard }: { readonly isShard: boolean }): readonly Convention[] {
  return [huggingFace, accelerate, lightning, orbax, createDcp({ isShard })];
}

/** A candidate together with the rule that found it. */
export interface Found {
  readonly candidate: Candidate;
  readonly convention: Convention;
}

/**
 * Applies conventions in rounds. Within a round each sees what the earlier ones left, and all may find something; a later round is asked
 * only when the earlier rounds found nothing at all.
 */
export async function findCandidates(
  scan: Scan,
  rounds: readonly (readonly Convention[])[],
  read: ReadSmall | undefined,
): Promise<readonly Found[]> {
  for (const round of rounds) {
    const found: Found[] = [];
    let left = scan;
    for (const convention of round) {
      const candidates = await convention.find(left, read);
      if (candidates.length === 0) continue;
      found.push(...candidates.map((candidate) => ({ candidate, convention })));
      const claimed = new Set(candidates.flatMap(({ entries }) => entries.map(({ path }) => path)));
      left = without(left, ({ path }) => claimed.has(path));
    }
    if (found.length > 0) return found;
  }
  return [];
}
