import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { MatchJob, MatchOutcome, MatchRun } from "./jobs.ts";
import type { LaneContext } from "./run-job.ts";
import type { WorkBuffer } from "./work-buffer.ts";

/** Hashes runs of local files. */
export function runMatch(job: MatchJob, context: LaneContext, scratch: WorkBuffer): MatchOutcome {
  return { hashes: job.runs.map((run) => hashRun(run, context, scratch)) };
}

function hashRun(run: MatchRun, context: LaneContext, scratch: WorkBuffer): Uint8Array | undefined {
  try {
    const fd = openSync(run.path, "r");
    try {
      if (fstatSync(fd).size !== run.fileSize) return undefined;
      const bytes = scratch.take(run.length);
      for (let at = 0; at < run.length; ) {
        const read = readSync(fd, bytes, at, run.length - at, run.offset + at);
        if (read === 0) return undefined;
        at += read;
      }
      return Uint8Array.from(context.hash(bytes));
    } finally {
      closeSync(fd);
    }
  } catch {
    // Whatever keeps it from being read, it cannot be said to match; the bytes then come from the store.
    return undefined;
  }
}
