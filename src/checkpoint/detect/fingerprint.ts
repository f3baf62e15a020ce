import { createHash } from "node:crypto";
import type { Candidate, Scan, ScanEntry } from "./types.ts";

/**
 * Names the exact state of a candidate's files. Folders count by path only: their own times move when a neighbour of the
 * checkpoint comes or goes, and some file systems invent them. Change times do not count: linking a file, as a snapshot does, moves
 * them; {@link changeStamp} has them for files that may still be written.
 */
export function fingerprint(candidate: Pick<Candidate, "entries" | "pointers">): string {
  const known = prints.get(candidate.entries);
  const ofEntries = known ?? createHash("sha256").update(candidate.entries.map(stamp).join("\n")).digest("hex");
  prints.set(candidate.entries, ofEntries);
  const hash = createHash("sha256").update(ofEntries);
  for (const pointer of candidate.pointers) hash.update(`\n${pointer.path}`);
  return hash.digest("hex").slice(0, 32);
}

/** Entries are never changed once made. */
const prints = new WeakMap<readonly ScanEntry[], string>();

/** Whether two looks saw exactly the same, folders' times included. */
export function isSameScan(one: Scan, two: Scan): boolean {
  if (one.entries.size !== two.entries.size) return false;
  for (const entry of two.entries.values()) {
    const other = one.entries.get(entry.path);
    if (
      !other ||
      other.ctimeMs !== entry.ctimeMs ||
      other.mtimeMs !== entry.mtimeMs ||
      other.size !== entry.size ||
      other.ino !== entry.ino ||
      other.mode !== entry.mode ||
      other.type !== entry.type ||
      other.target !== entry.target
    ) {
      return false;
    }
  }
  return true;
}

/** One entry's part of the fingerprint. Without ctime: the shipper's own snapshot, a hard link, moves that, when made and when removed. */
export function stamp(entry: ScanEntry): string {
  const { path, type, size, mtimeMs, ino, target } = entry;
  return type === "directory" ? `${quote(path)} d` : `${quote(path)} ${type} ${size} ${mtimeMs} ${ino} ${target ?? ""}`;
}

/** The latest change time of any of the entries that are not folders. */
export function changeStamp(entries: readonly ScanEntry[]): number {
  return entries.reduce((latest, { ctimeMs, type }) => (type === "directory" ? latest : Math.max(latest, ctimeMs)), 0);
}

/** A newline in a name must not look like the end of an entry. */
function quote(path: string): string {
  return path.includes("\n") ? JSON.stringify(path) : path;
}
