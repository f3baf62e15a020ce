import { OutlastError } from "../../core/index.ts";
import { type HashName, hashFunction } from "../hash.ts";
import type { FileEntry, LinkEntry, Manifest, ManifestChunk } from "../manifest.ts";
import { encodePath } from "../path-bytes.ts";
import { parentsOf } from "./check-manifest.ts";
import type { FetchJob, FetchTarget, FileFinish, Seed } from "./jobs.ts";
import type { FetchRequest } from "./types.ts";

/** A file whose bytes come in several pieces. */
export interface LargeFile extends FileFinish {
  readonly entry: FileEntry;
  readonly path: string | Buffer;
}

/** A fetch job and the entries its targets belong to, in the same order. */
export interface PlannedFetch {
  readonly job: FetchJob;
  readonly owners: readonly { readonly entry: FileEntry; readonly piece: number }[];
}

/** What to create and where its bytes come from. */
export interface FetchPlan {
  /** Folders below `into` with their modes (undefined: named by no entry), parents before children. */
  readonly folders: ReadonlyMap<string, number | undefined>;
  readonly jobs: readonly PlannedFetch[];
  readonly large: ReadonlyMap<FileEntry, LargeFile>;
  readonly empty: readonly LargeFile[];
  readonly links: readonly LinkEntry[];
  readonly bytes: number;
}

/** Plans a fetch of a checked manifest: each chunk is read once, whatever number of files need it. */
export function planFetch(request: FetchRequest): FetchPlan {
  const { manifest, into } = request;
  const entries = manifest.entries.filter((entry) => !request.skip?.has(entry.path));
  const folders = new Map<string, number | undefined>();
  for (const entry of entries) {
    for (const parent of parentsOf(entry.path)) if (!folders.has(parent)) folders.set(parent, undefined);
    if (entry.type === "directory") folders.set(entry.path, entry.mode);
  }
  const large = new Map<FileEntry, LargeFile>();
  const empty: LargeFile[] = [];
  const byChunk = new Map<number, { targets: FetchTarget[]; owners: { entry: FileEntry; piece: number }[] }>();
  let bytes = 0;
  for (const entry of entries) {
    if (entry.type !== "file") continue;
    bytes += entry.size;
    const { size, mode, mtimeMs } = entry;
    const file: LargeFile = { entry, path: encodePath(`${into}/${entry.path}`), size, mode, mtimeMs };
    if (entry.pieces.length === 0) empty.push(file);
    else if (entry.pieces.length > 1) large.set(entry, file);
    let at = 0;
    entry.pieces.forEach(([number, from, length], piece) => {
      const whole = entry.pieces.length === 1 ? { size, mode, mtimeMs } : undefined;
      const isHashed = length !== manifest.chunks[number]?.size;
      const use = byChunk.get(number) ?? { targets: [], owners: [] };
      byChunk.set(number, use);
      use.targets.push({ path: file.path, at, from, length, whole, isHashed });
      use.owners.push({ entry, piece });
      at += length;
    });
  }
  const seeds = request.local && new Seeds(manifest, request.local);
  const jobs = [...byChunk].map(([number, { targets, owners }]) => {
    const chunk = manifest.chunks[number] as ManifestChunk;
    return { job: { kind: "fetch" as const, chunk, seeds: seeds?.of(number) ?? [], targets }, owners };
  });
  const links = entries.filter((entry) => entry.type === "link");
  return { folders: sortByPath(folders), jobs: takeTurns(jobs), large, empty, links, bytes };
}

/** Goes round the files: two threads that write to the same file would wait for each other inside the kernel. */
function takeTurns(jobs: readonly PlannedFetch[]): PlannedFetch[] {
  const byFile = new Map<FileEntry | undefined, PlannedFetch[]>();
  for (const job of jobs) {
    const file = job.owners[0]?.entry;
    byFile.set(file, [...(byFile.get(file) ?? []), job]);
  }
  const queues = [...byFile.values()];
  const longest = Math.max(0, ...queues.map((queue) => queue.length));
  return Array.from({ length: longest }, (_, turn) => queues.flatMap((queue) => queue[turn] ?? [])).flat();
}

/** Finds local files whose runs of bytes, put together, would be a chunk. */
class Seeds {
  readonly #manifest: Manifest;
  readonly #byChunk = new Map<number, (Seed & { readonly from: number })[]>();

  constructor(manifest: Manifest, local: ReadonlyMap<string, string>) {
    this.#manifest = manifest;
    for (const entry of manifest.entries) {
      const path = local.get(entry.path);
      if (entry.type !== "file" || path === undefined) continue;
      let offset = 0;
      for (const [number, from, length] of entry.pieces) {
        const seeds = this.#byChunk.get(number) ?? [];
        this.#byChunk.set(number, seeds);
        seeds.push({ path, offset, length, from });
        offset += length;
      }
    }
  }

  /** Runs that cover the chunk from end to end; none when there are gaps. */
  of(number: number): Seed[] {
    const cover: Seed[] = [];
    let at = 0;
    for (const seed of (this.#byChunk.get(number) ?? []).sort((a, b) => a.from - b.from)) {
      if (seed.from !== at) continue;
      cover.push({ path: seed.path, offset: seed.offset, length: seed.length });
      at += seed.length;
    }
    return at === this.#manifest.chunks[number]?.size ? cover : [];
  }
}

/**
 * Checks a file against its hash, given the hashes of those of its pieces that are not whole chunks. The chunks' own
 * hashes are checked where they are read; this finds pieces that are right in themselves but not this file's.
 */
export function checkFileHash(entry: FileEntry, manifest: Manifest, partial: ReadonlyMap<number, Uint8Array>): void {
  if (
    fileHash(
      manifest.hash,
      entry.pieces.map(([number, , length], piece) => {
        const chunk = manifest.chunks[number];
        return length === chunk?.size ? Buffer.from(chunk.hash, "hex") : (partial.get(piece) ?? new Uint8Array());
      }),
    ) === entry.hash
  )
    return;
  throw new OutlastError("OUTLAST_CHECKPOINT_DAMAGED", `the pieces of ${entry.path} do not have the file's hash`, {
    operation: "fetch",
    target: entry.path,
    recovery: "reset",
    hint: "the manifest is damaged; an older checkpoint is used instead",
  });
}

/** The hash of a file, from the raw hashes of its pieces. */
export function fileHash(name: HashName, pieces: readonly Uint8Array[]): string {
  return Buffer.from(hashFunction(name)(Buffer.concat(pieces))).toString("hex");
}

function sortByPath<T>(map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}
