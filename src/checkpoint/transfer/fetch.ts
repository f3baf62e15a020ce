import { open, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { FileEntry } from "../manifest.ts";
import { encodePath } from "../path-bytes.ts";
import { checkManifest } from "./check-manifest.ts";
import { dispatch } from "./dispatch.ts";
import { fileError } from "./file-error.ts";
import type { FinishJob, FoldersJob, Job, SealJob, Setup } from "./jobs.ts";
import type { Lane } from "./lane.ts";
import { checkFileHash, type FetchPlan, type PlannedFetch, planFetch } from "./plan-fetch.ts";
import type { FetchRequest, FetchResult } from "./types.ts";

const filesAtOnce = 256;

/**
 * Fetches a request's files over some lanes. In order: folders, files (checked before they are written), links, and last the
 * modes and entries of folders, innermost first. Everything is on disk when it resolves.
 */
export async function fetch(
  request: FetchRequest,
  lanes: readonly Lane[],
  id: number,
  signal: AbortSignal,
): Promise<FetchResult> {
  const { manifest, prefix, into } = request;
  checkManifest(manifest, prefix);
  const plan = planFetch(request);
  const setup: Setup = { hash: manifest.hash, prefix, owner: "", claims: undefined };
  for (const lane of lanes) lane.begin(id, setup);
  const all = <J extends Job>(jobs: readonly J[]) => dispatch(lanes, id, jobs, signal, () => {});

  const paths = [into, ...[...plan.folders.keys()].map((path) => encodePath(`${into}/${path}`))];
  // One lane, in order: a folder must be there before those inside it.
  await dispatch(
    lanes.slice(0, 1),
    id,
    inGroups(paths).map((group): FoldersJob => ({ kind: "folders", paths: group })),
    signal,
    () => {},
  );
  for (const file of plan.large.values()) await createFile(file.path);
  const fetchedBytes = await fetchFiles(request, plan, lanes, id, signal);
  const finishes = [
    ...[...plan.large.values()].map((file) => ({ ...looks(file), isNew: false })),
    ...plan.empty.map((file) => ({ ...looks(file), isNew: true })),
  ];
  await all(inGroups(finishes, 8).map((files): FinishJob => ({ kind: "finish", files })));
  for (const link of plan.links) await createLink(`${into}/${link.path}`, link.target);
  for (const level of foldersByDepth(into, plan)) {
    await all(inGroups(level, 16).map((folders): SealJob => ({ kind: "seal", folders })));
  }
  return { bytes: plan.bytes, fetchedBytes };
}

async function fetchFiles(
  request: FetchRequest,
  plan: FetchPlan,
  lanes: readonly Lane[],
  id: number,
  signal: AbortSignal,
): Promise<number> {
  const partial = new Map<FileEntry, Map<number, Uint8Array>>();
  let fetchedBytes = 0;
  let bytes = 0;
  const jobs = plan.jobs.map((planned) => planned.job);
  await dispatch(lanes, id, jobs, signal, (outcome, index) => {
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
