import { folderOf } from "./tree.ts";
import type { Candidate } from "./types.ts";

/** Kernel time stamps step by up to 10 ms; a folder's own is taken just after its new entry's. */
const slackMs = 12;

/**
 * Finds a folder of the candidate from which something was taken away after everything that is left was written: a deletion that is under
 * way or was cut short. Making, writing or renaming an entry gives it a change time at least as late as its folder's; only a removal leaves
 * a folder newer than all it holds.
 */
export function findRemoval(candidate: Pick<Candidate, "entries">): string | undefined {
  const newest = new Map<string, number>();
  for (const entry of candidate.entries) {
    const folder = folderOf(entry.path);
    newest.set(folder, Math.max(newest.get(folder) ?? 0, entry.ctimeMs));
  }
  for (const folder of candidate.entries) {
    if (folder.type !== "directory") continue;
    const held = newest.get(folder.path);
    // An empty folder is compared with its own making.
    const since = held ?? folder.birthtimeMs;
    if (since !== undefined && since > 0 && folder.mtimeMs > since + slackMs) return folder.path;
  }
  return undefined;
}
