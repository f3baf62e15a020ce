import type { FileEntry } from "../manifest.ts";
import type { Crew } from "./crew.ts";
import type { MatchJob, MatchRun } from "./jobs.ts";
import { chunkBytes, packedPieces } from "./limits.ts";
import { fileHash } from "./plan-fetch.ts";
import type { Transfer } from "./types.ts";

type Candidate = { readonly entry: FileEntry; readonly hashes: (Uint8Array | undefined)[] };

/** Finds the files of a manifest whose local copies have exactly the recorded content. */
export async function matches(request: Parameters<Transfer["matches"]>[0], crew: Crew): Promise<ReadonlySet<string>> {
  const { manifest, local } = request;
  crew.begin({ hash: manifest.hash, prefix: "", owner: "", claims: undefined });
  const candidates: Candidate[] = [];
  const jobs: { job: MatchJob; owners: { candidate: Candidate; piece: number }[]; bytes: number }[] = [];
  let runs: MatchRun[] = [];
  for (const entry of manifest.entries) {
    const path = local.get(entry.path);
    if (entry.type !== "file" || path === undefined) continue;
    const candidate: Candidate = { entry, hashes: [] };
    candidates.push(candidate);
    let offset = 0;
    // An empty file has no pieces; one run of no bytes still shows that it is there and empty.
    const lengths = entry.pieces.length === 0 ? [0] : entry.pieces.map(([, , length]) => length);
    lengths.forEach((length, piece) => {
      let last = jobs.at(-1);
      if (!last || last.bytes + length > chunkBytes || runs.length >= packedPieces) {
        runs = [];
        last = { job: { kind: "match", runs }, owners: [], bytes: 0 };
        jobs.push(last);
      }
      runs.push({ path, fileSize: entry.size, offset, length });
      last.owners.push({ candidate, piece });
      last.bytes += length;
      offset += length;
    });
  }
  const totalBytes = jobs.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const all = jobs.map(({ job }) => job);
  await crew.all(all, ({ hashes }, index) => {
    jobs[index]?.owners.forEach(({ candidate, piece }, run) => {
      candidate.hashes[piece] = hashes[run];
    });
    done += jobs[index]?.bytes ?? 0;
    request.onProgress?.({ bytes: done, totalBytes });
  });
  const same = candidates.filter(({ entry, hashes }) => {
    const known = hashes.filter((hash) => hash !== undefined);
    return known.length === hashes.length && fileHash(manifest.hash, entry.size === 0 ? [] : known) === entry.hash;
  });
  return new Set(same.map(({ entry }) => entry.path));
}
