import type { FileEntry, ManifestChunk, Piece } from "../manifest.ts";
import type { Crew } from "./crew.ts";
import { HashClaims } from "./hash-claims.ts";
import type { SendOutcome } from "./jobs.ts";
import { fileHash } from "./plan-fetch.ts";
import { planSend, type SendPlan } from "./plan-send.ts";
import { chunkKey } from "./run-send.ts";
import type { SendRequest, SendResult, SourceFile } from "./types.ts";

/** Sends a request's files; every chunk is durable when it resolves. */
export async function send(request: SendRequest, crew: Crew, rate: SharedArrayBuffer | undefined): Promise<SendResult> {
  const plan = await planSend(request.files);
  const claims = HashClaims.forCount(plan.jobs.length + request.reusable.size);
  for (const hash of request.reusable.keys()) claims.claim(Buffer.from(hash, "hex"));
  const { hash, prefix, owner } = request;
  crew.begin({ hash, prefix, owner, claims: claims.memory, rate });

  const outcomes: SendOutcome[] = [];
  let done = 0;
  await crew.all(plan.jobs, (outcome, index) => {
    outcomes[index] = outcome;
    done += plan.jobs[index]?.size ?? 0;
    request.onProgress?.({ bytes: done, totalBytes: plan.bytes });
  });
  // Every lane knows which folders it wrote to: all of them must be on disk before anything may name these chunks.
  await crew.each({ kind: "settle" });
  return describe(request, plan, outcomes);
}

function describe(request: SendRequest, plan: SendPlan, outcomes: readonly SendOutcome[]): SendResult {
  const chunks: ManifestChunk[] = [];
  const numbers = new Map<string, number>();
  let sentBytes = 0;
  const numberOf = outcomes.map((outcome, index) => {
    const size = plan.jobs[index]?.size ?? 0;
    if (outcome.isSent) sentBytes += size;
    const known = numbers.get(outcome.hash);
    if (known !== undefined) return known;
    const key = chunkKey("", outcome.hash, request.owner);
    numbers.set(outcome.hash, chunks.length);
    return chunks.push(request.reusable.get(outcome.hash) ?? { key, hash: outcome.hash, size }) - 1;
  });
  const entries = request.files.map((file, index) => entryOf(file, index, request, plan, outcomes, numberOf));
  return { chunks, entries, bytes: plan.bytes, sentBytes };
}

function entryOf(
  file: SourceFile,
  index: number,
  request: SendRequest,
  plan: SendPlan,
  outcomes: readonly SendOutcome[],
  numberOf: readonly number[],
): FileEntry {
  const pieces: Piece[] = [];
  const hashes: Uint8Array[] = [];
  for (const { job, part, offset, length } of plan.pieces[index] ?? []) {
    pieces.push([numberOf[job] ?? 0, offset, length]);
    hashes.push(outcomes[job]?.partHashes.subarray(32 * part, 32 * part + 32) ?? new Uint8Array());
  }
  const { path, size, mode, mtimeMs } = file;
  return { type: "file", path, size, mode, mtimeMs, hash: fileHash(request.hash, hashes), pieces };
}
