import { closeSync, openSync, readSync } from "node:fs";
import { OutlastError } from "../../core/index.ts";
import { Bounded } from "./bounded.ts";
import type { FetchJob, FetchOutcome, WantedChunk } from "./jobs.ts";
import { writeTarget } from "./run-files.ts";
import type { LaneContext } from "./run-job.ts";
import { matches, readChunk } from "./run-verify.ts";
import type { WorkBuffer } from "./work-buffer.ts";

/** A pack may hold a thousand files; this many are open at a time. */
const openTargets = 16;

/** Gets one chunk, checks it and writes it to its files. */
export async function runFetch(
  job: FetchJob,
  context: LaneContext,
  scratch: WorkBuffer,
): Promise<{ readonly done: Promise<FetchOutcome> }> {
  const seeded = readSeeds(job, context, scratch);
  const bytes = seeded ?? (await fetchChunk(job.chunk, context, scratch));
  const hashed = job.targets.filter((target) => target.isHashed);
  const targetHashes = new Uint8Array(32 * hashed.length);
  hashed.forEach((target, index) => {
    targetHashes.set(context.hash(bytes.subarray(target.from, target.from + target.length)), 32 * index);
  });
  const written = new Bounded(openTargets);
  try {
    for (const target of job.targets) {
      await written.add(writeTarget(target, bytes.subarray(target.from, target.from + target.length)));
    }
  } catch (error) {
    // Nobody may write to the directory any more once the failure is known.
    await written.drain().catch(() => {});
    throw error;
  }
  return { done: written.drain().then(() => ({ isFetched: seeded === undefined, targetHashes })) };
}

async function fetchChunk(chunk: WantedChunk, context: LaneContext, scratch: WorkBuffer): Promise<Uint8Array> {
  const { bytes, fault } = await readChunk(chunk, context, scratch);
  if (!fault) return bytes;
  throw new OutlastError("OUTLAST_CHECKPOINT_DAMAGED", `chunk ${chunk.key} is damaged: ${fault}`, {
    operation: "fetch",
    target: context.setup.prefix + chunk.key,
    recovery: "reset",
    hint: "an older checkpoint is used instead; `outlast checkpoints verify` lists everything that is damaged",
  });
}

/** The chunk's bytes from local files, or undefined when they do not hold it (any more). */
function readSeeds({ seeds, chunk }: FetchJob, context: LaneContext, scratch: WorkBuffer): Uint8Array | undefined {
  if (seeds.length === 0) return undefined;
  const bytes = scratch.take(chunk.size);
  let at = 0;
  try {
    for (const seed of seeds) {
      const fd = openSync(seed.path, "r");
      try {
        for (const end = at + seed.length, start = at; at < end; ) {
          const read = readSync(fd, bytes, at, end - at, seed.offset + at - start);
          if (read === 0) return undefined;
          at += read;
        }
      } finally {
        closeSync(fd);
      }
    }
  } catch {
    // Local files are only a short cut: whatever is wrong with them, the store has the bytes.
    return undefined;
  }
  return matches(bytes, chunk, context) ? bytes : undefined;
}
