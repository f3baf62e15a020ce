import { isOutlastError } from "../../core/index.ts";
import type { VerifyOutcome, WantedChunk } from "./jobs.ts";
import type { LaneContext } from "./run-job.ts";
import type { WorkBuffer } from "./work-buffer.ts";

/**
 * Reads a chunk from the store and says what is wrong with it, if anything. What came wrong over a network is read once more: only bytes
 * that are wrong twice are called damaged.
 */
export async function readChunk(
  chunk: WantedChunk,
  context: LaneContext,
  scratch: WorkBuffer,
): Promise<{ readonly bytes: Uint8Array; readonly fault: VerifyOutcome["fault"] }> {
  const first = await readOnce(chunk, context, scratch);
  if (!context.port.isRemote || first.fault === undefined || first.fault === "missing") return first;
  return readOnce(chunk, context, scratch);
}

async function readOnce(
  chunk: WantedChunk,
  context: LaneContext,
  scratch: WorkBuffer,
): Promise<{ readonly bytes: Uint8Array; readonly fault: VerifyOutcome["fault"] }> {
  // One byte more than wanted, so that a longer object shows.
  const buffer = scratch.take(chunk.size + 1);
  try {
    const { bytes, size } = await context.port.read(context.setup.prefix + chunk.key, buffer);
    if (size !== chunk.size || bytes.length !== chunk.size) return { bytes, fault: "wrong size" };
    return { bytes, fault: matches(bytes, chunk, context) ? undefined : "wrong content" };
  } catch (error) {
    if (isOutlastError(error, "OUTLAST_OBJECT_NOT_FOUND")) return { bytes: new Uint8Array(), fault: "missing" };
    if (isWrongChecksum(error)) return { bytes: new Uint8Array(), fault: "wrong content" };
    throw error;
  }
}

/** Whether bytes have a chunk's hash. */
export function matches(bytes: Uint8Array, chunk: WantedChunk, context: LaneContext): boolean {
  return Buffer.from(context.hash(bytes)).toString("hex") === chunk.hash;
}

/** Whether a store found by its own checksum that what came is not what it holds; other failures that may pass have other codes. */
export function isWrongChecksum(error: unknown): boolean {
  return isOutlastError(error, "OUTLAST_STORE_FAILED") && error.operation === "get" && error.recovery === "retry";
}
