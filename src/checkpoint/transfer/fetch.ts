import { open, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { FileEntry } from "../manifest.ts";
import { encodePath } from "../path-bytes.ts";
import { checkManifest } from "./check-manifest.ts";
import type { Crew } from "./crew.ts";
import { fileError } from "./file-error.ts";
import type { FinishJob, FoldersJob, SealJob } from "./jobs.ts";
import { checkFileHash, type FetchPlan, type PlannedFetch, planFetch } from "./plan-fetch.ts";
import type { FetchRequest, FetchResult } from "./types.ts";

const filesAtOnce = 256;

/**
 * Fetches a request's files. In order: folders, files (checked before they are written), links, and last the
 * modes and entries of folders, innermost first. Everything is on disk when it resolves.
 */
export async function fetch(request: FetchRequest, crew: Crew): Promise<FetchResult> {
  const { manifest, prefix, into } = request;
  checkManifest(manifest, prefix);
  const plan = planFetch(request);
  crew.begin({ hash: manifest.hash, prefix, owner: "", claims: undefined });

  const paths = [into, ...[...plan.folders.keys()].map((path) => encodePath(`${into}/${path}`))];
  // In order: a folder must be there before those inside it.
  await crew.inOrder(inGroups(paths).map((group): FoldersJob => ({ kind: "folders", paths: group })));
  for (const file of plan.large.values()) await createFile(file.path);
  const fetchedBytes = await fetchFiles(request, plan, crew);
  const finishes = [
    ...[...plan.large.values()].map((file) => ({ ...looks(file), isNew: false })),
    ...plan.empty.map((file) => ({ ...looks(file), isNew: true })),
  ];
  await crew.all(
    inGroups(finishes, 8).map((files): FinishJob => ({ kind: "finish", files })),
    () => {},
  );
  for (const link of plan.links) await createLink(`${into}/${link.path}`, link.target);
  for (const level of foldersByDepth(into, plan)) {
    await crew.all(
      inGroups(level, 16).map((folders): SealJob => ({ kind: "seal", folders })),
      () => {},
    );
  }
  return { bytes: plan.bytes, fetchedBytes };
}

async function fetchFiles(request: FetchRequest, plan: FetchPlan, crew: Crew): Promise<number> {
  const partial = new Map<FileEntry, Map<number, Uint8Array>>();
  let fetchedBytes = 0;
  let bytes = 0;
  const jobs = plan.jobs.map((planned) => planned.job);
  await crew.all(jobs, (outcome, index) => {
    const { job, owners } = plan.jobs[index] as PlannedFetch;
    if (outcome.isFetched) fetchedBytes += job.chunk.size;
    let at = 0;
    job.targets.forEach((target, number) => {
      bytes += target.length;
      const owner = owners[number];
      if (!target.isHashed || !owner) return;
      const hashes = partial.get(owner.entry) ?? new Map<number, Uint8Array>();
      partial.set(owner.entry, hashes);
      hashes.set(owner.piece, outcome.targetHashes.slice(at, at + 32));
      at += 32;
    });
    request.onProgress?.({ bytes, totalBytes: plan.bytes });
  });
  for (const entry of request.manifest.entries) {
    if (entry.type !== "file" || request.skip?.has(entry.path)) continue;
    checkFileHash(entry, request.manifest, partial.get(entry) ?? new Map());
  }
  return fetchedBytes;
}

function looks(file: { path: string | Buffer; size: number; mode: number; mtimeMs: number }) {
  return { path: file.path, size: file.size, mode: file.mode, mtimeMs: file.mtimeMs };
}

async function createFile(path: string | Buffer): Promise<void> {
  try {
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    throw fileError(error, "create", path.toString());
  }
}

async function createLink(path: string, target: string): Promise<void> {
  try {
    await symlink(encodePath(target), encodePath(path));
  } catch (error) {
    throw fileError(error, "create", path);
  }
}

/** Folders to seal, deepest first; `into` itself and the folder it lies in come last. */
function foldersByDepth(into: string, plan: FetchPlan): { path: string | Buffer; mode: number | undefined }[][] {
  const levels: { path: string | Buffer; mode: number | undefined }[][] = [];
  for (const [path, mode] of plan.folders) {
    const depth = path.split("/").length;
    // Folders are made private while they fill; one that no entry describes gets what mkdir would have given.
    (levels[depth] ??= []).push({ path: encodePath(`${into}/${path}`), mode: mode ?? 0o755 });
  }
  return [[{ path: dirname(into), mode: undefined }], [{ path: into, mode: undefined }], ...levels]
    .filter((level) => level !== undefined)
    .reverse();
}

function inGroups<T>(items: readonly T[], most: number = filesAtOnce): T[][] {
  const groups: T[][] = [];
  for (let at = 0; at < items.length; at += most) groups.push(items.slice(at, at + most));
  return groups;
}
