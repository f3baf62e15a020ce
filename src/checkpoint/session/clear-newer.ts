import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../core/index.ts";
import type { Candidate, CompleteCheckpoint, Detector } from "../detect/index.ts";
import { moveAside } from "../local/move-aside.ts";
import type { OwnFolder } from "../local/own-folder.ts";

/** How many folders of things moved aside are kept: enough to look into, not enough to fill a volume over hundreds of evictions. */
const keptAside = 3;

export interface PreparedDirectory {
  /** What was moved aside, for people. */
  readonly moved: readonly string[];
  readonly folder: string | undefined;
}

/**
 * Moves aside whatever looks like a checkpoint newer than the one resumed from and is not to be kept, finished or not: most frameworks resume from the
 * highest number they see, whole or torn.
 */
export async function clearNewer(
  dir: string,
  own: OwnFolder,
  detector: Detector,
  resumed: { readonly step: number; readonly path: string } | undefined,
  keep: readonly CompleteCheckpoint[],
  epoch: number,
  /** Whether what lies where the resumed one belongs must go too. */
  isReplaced: boolean,
): Promise<PreparedDirectory> {
  const kept = new Set(keep.map((checkpoint) => checkpoint.path));
  const isNewer = (candidate: Candidate) => {
    if (kept.has(candidate.path)) return false;
    if (candidate.path === resumed?.path) return isReplaced;
    return candidate.step === undefined || candidate.step > (resumed?.step ?? -1);
  };
  const newer = (await detector.candidates()).filter(isNewer);
  if (newer.length === 0) return { moved: [], folder: undefined };
  const paths = new Set(newer.flatMap((candidate) => (candidate.path === "" ? topLevel(candidate) : [candidate.path])));
  const label = `${epoch}-newer-than-${resumed?.step ?? "start"}`;
  const markers = newer.flatMap((candidate) => candidate.markers);
  const folder = await moveAside(dir, own, { label, paths, markers });
  return { moved: [...paths], folder };
}

function topLevel(candidate: Candidate): string[] {
  return [...new Set(candidate.entries.map((entry) => entry.path.split("/")[0] ?? entry.path))];
}

/** Deletes all but the newest folders of things moved aside. */
export async function trimAside(own: OwnFolder): Promise<void> {
  let names: string[];
  try {
    names = await readdir(own.aside);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  const old = names.toSorted((a, b) => numberOf(a) - numberOf(b)).slice(0, -keptAside);
  for (const name of old) await rm(join(own.aside, name), { recursive: true, force: true });
}

/** Folders are named `<epoch>-<label>`. */
function numberOf(name: string): number {
  return Number.parseInt(name, 10) || 0;
}
