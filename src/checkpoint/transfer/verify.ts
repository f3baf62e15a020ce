import { checkManifest } from "./check-manifest.ts";
import type { Crew } from "./crew.ts";
import type { VerifyJob } from "./jobs.ts";
import type { ChunkFault, FetchRequest } from "./types.ts";

/** Reads every chunk of a manifest and lists those that are missing or differ. */
export async function verify(
  request: Pick<FetchRequest, "prefix" | "manifest" | "onProgress">,
  crew: Crew,
): Promise<readonly ChunkFault[]> {
  const { manifest, prefix } = request;
  checkManifest(manifest, prefix);
  crew.begin({ hash: manifest.hash, prefix, owner: "", claims: undefined });
  const totalBytes = manifest.chunks.reduce((sum, chunk) => sum + chunk.size, 0);
  const faults: (ChunkFault | undefined)[] = [];
  let bytes = 0;
  const jobs = manifest.chunks.map((chunk): VerifyJob => ({ kind: "verify", chunk }));
  await crew.all(jobs, ({ fault }, index) => {
    const chunk = manifest.chunks[index];
    if (!chunk) return;
    if (fault) faults[index] = { key: chunk.key, fault };
    bytes += chunk.size;
    request.onProgress?.({ bytes, totalBytes });
  });
  return faults.filter((fault) => fault !== undefined);
}
