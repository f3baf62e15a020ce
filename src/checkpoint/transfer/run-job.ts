import { assertNever } from "../../core/index.ts";
import type { HashFunction } from "../hash.ts";
import type { ChunkPort } from "./chunk-port.ts";
import type { HashClaims } from "./hash-claims.ts";
import type { Job, Outcomes, Setup } from "./jobs.ts";
import { runFetch } from "./run-fetch.ts";
import { finishFiles, makeFolders, sealFolders } from "./run-files.ts";
import { runMatch } from "./run-match.ts";
import { runSend } from "./run-send.ts";
import { readChunk } from "./run-verify.ts";
import type { SharedRate } from "./shared-rate.ts";
import type { BufferPool, WorkBuffer } from "./work-buffer.ts";

/** What a job runner works with. */
export interface LaneContext {
  readonly setup: Setup;
  readonly hash: HashFunction;
  readonly port: ChunkPort;
  readonly buffers: BufferPool;
  readonly claims: HashClaims | undefined;
  /** Held to when bytes are sent. */
  readonly rate: SharedRate | undefined;
  /** Aborts when the request ends. */
  readonly signal: AbortSignal;
}

/** Runs the part of a job that needs the thread; its outcome comes when its bytes are on disk or at the store. */
export async function runJob(
  job: Job,
  context: LaneContext,
): Promise<{ readonly done: Promise<Outcomes[Job["kind"]]> }> {
  switch (job.kind) {
    case "send":
      if (!context.claims) throw new Error("a send job came without a table of hashes");
      return runSend(job, context, context.claims);
    case "fetch":
      return withScratch(context, job.chunk.size + 1, (scratch) => runFetch(job, context, scratch));
    case "verify":
      return withScratch(context, job.chunk.size + 1, async (scratch) => {
        const { fault } = await readChunk(job.chunk, context, scratch);
        return { done: Promise.resolve({ fault }) };
      });
    case "folders":
      makeFolders(job);
      return { done: Promise.resolve(undefined) };
    case "finish":
      return { done: finishFiles(job) };
    case "seal":
      return { done: sealFolders(job) };
    case "match":
      return withScratch(context, 0, async (scratch) => ({ done: Promise.resolve(runMatch(job, context, scratch)) }));
    case "settle":
      return { done: context.port.settle().then(() => undefined) };
    default:
      return assertNever(job);
  }
}

/** Lends a buffer for as long as `act` runs. */
async function withScratch<T>(
  context: LaneContext,
  size: number,
  act: (scratch: WorkBuffer) => Promise<T>,
): Promise<T> {
  const scratch = await context.buffers.acquire(size);
  try {
    context.signal.throwIfAborted();
    return await act(scratch);
  } finally {
    context.buffers.release(scratch);
  }
}
