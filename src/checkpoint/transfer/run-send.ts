import type { HashFunction } from "../hash.ts";
import type { HashClaims } from "./hash-claims.ts";
import type { SendJob, SendOutcome } from "./jobs.ts";
import type { LaneContext } from "./run-job.ts";
import { readSource } from "./read-source.ts";

/** Reads and hashes one chunk and begins to store it; the outcome comes once it is placed. */
export async function runSend(
  job: SendJob,
  context: LaneContext,
  claims: HashClaims,
): Promise<{ readonly done: Promise<SendOutcome> }> {
  const buffer = await context.buffers.acquire(job.size);
  let isHeld = false;
  try {
    context.signal.throwIfAborted();
    const chunk = buffer.take(job.size);
    let at = 0;
    for (const part of job.parts) {
      readSource(part, chunk.subarray(at, at + part.length));
      at += part.length;
    }
    const raw = context.hash(chunk);
    const outcome = {
      hash: Buffer.from(raw).toString("hex"),
      partHashes: job.parts.length === 1 ? Uint8Array.from(raw) : hashParts(job, chunk, context.hash),
    };
    if (!claims.claim(raw)) return { done: Promise.resolve({ ...outcome, isSent: false }) };
    await context.rate?.take(job.size, context.signal);
    context.signal.throwIfAborted();
    const key = chunkKey(context.setup.prefix, outcome.hash, context.setup.owner);
    const { released, placed } = context.port.write(key, chunk);
    isHeld = true;
    void released.then(() => context.buffers.release(buffer));
    return { done: placed.then(() => ({ ...outcome, isSent: true })) };
  } finally {
    if (!isHeld) context.buffers.release(buffer);
  }
}

/** The key of a chunk that a shipment stores. */
export function chunkKey(prefix: string, hash: string, owner: string): string {
  return `${prefix}chunks/${hash.slice(0, 2)}/${hash}.${owner}`;
}

function hashParts(job: SendJob, chunk: Uint8Array, hash: HashFunction): Uint8Array {
  const hashes = new Uint8Array(32 * job.parts.length);
  let at = 0;
  job.parts.forEach((part, index) => {
    hashes.set(hash(chunk.subarray(at, at + part.length)), 32 * index);
    at += part.length;
  });
  return hashes;
}
