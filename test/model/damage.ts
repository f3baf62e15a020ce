import { decodeRecord, recordKey } from "../../src/checkpoint/log/record.ts";
import type { Manifest } from "../../src/checkpoint/manifest.ts";
import { unseal } from "../../src/checkpoint/sealed-json.ts";
import { type Damage, recordsOf, runName } from "./checkpoint-world.ts";

/** Destroys one chunk of a commit, the frozen or the moving part of a shard, and says which commits that damages. */
export function destroy(objects: Map<string, Uint8Array>, at: number, part: "frozen" | "moving", shard = 0): Damage {
  const bytes = objects.get(`${runName}/${recordKey(at)}`);
  if (!bytes) throw new Error(`no record ${at}`);
  const { body } = decodeRecord(bytes, at, "");
  if (body.kind !== "commit") throw new Error(`record ${at} is no commit`);
  const manifest = openManifest(objects, body.manifests[shard]?.key ?? "");
  const index = manifest.entries.findIndex((entry) => entry.path === part);
  const key = manifest.chunks[index]?.key;
  if (!key || !objects.delete(`${runName}/${key}`)) throw new Error(`no ${part} chunk in commit ${at}`);
  const commits = new Set<number>();
  for (const { n, body: other } of recordsOf({ objects })) {
    if (other.kind !== "commit") continue;
    const keys = other.manifests.flatMap((ref) => openManifest(objects, ref.key).chunks.map((chunk) => chunk.key));
    if (keys.includes(key)) commits.add(n);
  }
  return { commits, chunks: new Set([key]) };
}

function openManifest(objects: ReadonlyMap<string, Uint8Array>, key: string): Manifest {
  const opened = unseal(objects.get(`${runName}/${key}`) ?? new Uint8Array());
  if ("fault" in opened) throw new Error(`manifest ${key} ${opened.fault}`);
  return opened.content as Manifest;
}

/** Positions of all commits. */
export function commitsIn(objects: ReadonlyMap<string, Uint8Array>): number[] {
  return recordsOf({ objects }).flatMap(({ n, body }) => (body.kind === "commit" ? [n] : []));
}
