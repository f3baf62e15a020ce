import { hashHex } from "../hash.ts";
import type { Manifest, ManifestChunk } from "../manifest.ts";
import { isDamage } from "../read-newest.ts";
import type { RunStore } from "../run-store.ts";

/** As many chunks are under way at once; with chunks of 8 MiB that is 64 MiB of memory. */
const lanes = 8;

/** Something of a commit is not in the source as it was committed. */
export class SourceDamage extends Error {
  override readonly name = "SourceDamage";
}

/** How the chunks of one manifest get into the target. */
export interface ChunkCopy {
  readonly source: RunStore;
  readonly target: RunStore;
  readonly manifest: Manifest;
  /** Suffix of the new keys: `<epoch>-<shipment>`. */
  readonly owner: string;
  /** Chunks that this copy has put there before, by hash. */
  readonly reusable: ReadonlyMap<string, ManifestChunk>;
  readonly signal?: AbortSignal | undefined;
  /** Called for each chunk; `sent` is 0 for one that was there. */
  readonly onChunk: (size: number, sent: number) => void;
}

/** Copies a manifest's chunks, each verified on the way; answers with the same list under the target's keys. */
export async function copyChunks(copy: ChunkCopy): Promise<readonly ManifestChunk[]> {
  const { manifest, owner, reusable } = copy;
  const chunks = manifest.chunks.map(
    ({ hash, size }): ManifestChunk =>
      reusable.get(hash) ?? { key: `chunks/${hash.slice(0, 2)}/${hash}.${owner}`, hash, size },
  );
  const sent = new Set<string>();
  const jobs = chunks.flatMap((chunk, index) => {
    const from = manifest.chunks[index];
    if (!from || chunk.from !== undefined || sent.has(chunk.key)) {
      copy.onChunk(chunk.size, 0);
      return [];
    }
    sent.add(chunk.key);
    return [{ from, to: chunk }];
  });
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const lane = async () => {
    let buffer = new Uint8Array();
    for (let job = jobs[next++]; job && !failure; job = jobs[next++]) {
      // One byte more than wanted, so that a longer object shows.
      if (buffer.length <= job.from.size) buffer = Buffer.allocUnsafeSlow(job.from.size + 1);
      try {
        const bytes = await readChunk(copy, job.from, buffer);
        await copy.target.put(job.to.key, bytes, { signal: copy.signal });
        copy.onChunk(job.to.size, job.to.size);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, jobs.length) }, lane));
  if (failure) throw failure.error;
  return chunks;
}

/** Bytes that come wrong are read once more: the way may have changed them. */
async function readChunk(copy: ChunkCopy, chunk: ManifestChunk, buffer: Uint8Array): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt += 1) {
    const bytes = await readOnce(copy, chunk, buffer);
    if (bytes.length === chunk.size && hashHex(copy.manifest.hash, bytes) === chunk.hash) return bytes;
    if (attempt === 2) throw new SourceDamage(`${chunk.key} differs from its hash`);
  }
}

async function readOnce(copy: ChunkCopy, chunk: ManifestChunk, buffer: Uint8Array): Promise<Uint8Array> {
  const { source, signal } = copy;
  try {
    return await source.get(chunk.key, { range: { offset: 0, length: chunk.size + 1 }, into: buffer, signal });
  } catch (error) {
    throw isDamage(error) ? new SourceDamage(`${chunk.key} is missing`, { cause: error }) : error;
  }
}
