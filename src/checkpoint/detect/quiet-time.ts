import type { Candidate } from "./types.ts";

/** Times in milliseconds; docs/reference/conventions.md gives them too. */
export const quietTimes = {
  /** A marked checkpoint must look the same this much later. */
  marked: 400,
  /** The same where open files cannot be seen. */
  markedBlind: 1_000,
  /** The same on a mounted bucket, where looking into a file that is still being written ends its upload. */
  markedBlindBucket: 10_000,
  /** An unmarked one that nobody has open. */
  unmarked: 3_000,
  /** An unmarked one where open files cannot be seen: this, and a second for every 64 MiB. */
  unmarkedBlind: 3_000,
  blindBytesPerSecond: 64 << 20,
  blindMost: 600_000,
  /** How long a complete file waits for an unfinished companion. */
  companion: 30_000,
} as const;

/** How long a candidate must have looked the same; longer where open files cannot be seen. */
export function requiredQuiet(candidate: Candidate, isBlind: boolean, isBucket: boolean): number {
  const markedBlind = isBucket ? quietTimes.markedBlindBucket : quietTimes.markedBlind;
  if (candidate.state === "marked") return isBlind ? markedBlind : quietTimes.marked;
  if (!isBlind) return quietTimes.unmarked;
  const bytes = candidate.entries.reduce((sum, { size, type }) => (type === "file" ? sum + size : sum), 0);
  const bySize = quietTimes.unmarkedBlind + (bytes / quietTimes.blindBytesPerSecond) * 1000;
  return Math.max(markedBlind, Math.min(quietTimes.blindMost, bySize));
}
