import type { CompleteCheckpoint } from "../detect/index.ts";

/** How long the program took to write a checkpoint, by the times of its files; undefined when they do not tell. */
export function saveCost(checkpoint: CompleteCheckpoint): number | undefined {
  const files = checkpoint.entries.filter((entry) => entry.type === "file");
  const ended = Math.max(...files.map((entry) => entry.mtimeMs));
  const began = Math.min(...files.map((entry) => Math.min(entry.mtimeMs, entry.birthtimeMs || entry.mtimeMs)));
  // An hour between first and last file is not one save: the file is appended to, or its birth is that of another content.
  return files.length > 0 && ended > began && ended - began < 3_600_000 ? ended - began : undefined;
}
