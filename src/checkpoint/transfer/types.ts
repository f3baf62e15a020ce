import type { ObjectStore } from "../../storage/index.ts";
import type { HashName } from "../hash.ts";
import type { Manifest, ManifestChunk, ManifestEntry } from "../manifest.ts";

/** What `stat` said of a source file, after its snapshot was made (a hard link changes ctime). */
export interface SourceGuard {
  /** Compared only when given: a mounted bucket numbers its files anew whenever it likes. */
  readonly ino?: number | undefined;
  readonly mtimeMs: number;
  /** Look before opening too: on a mounted bucket, opening a file that is being written ends its upload. @default false */
  readonly isBeforeOpen?: boolean | undefined;
  /** Compared only when given. */
  readonly ctimeMs?: number | undefined;
  /**
   * Its number of names. When given, a ctime that moved because a name went away (the trainer rotated its copy out) is no
   * change of content; without it, any other ctime counts as a change.
   */
  readonly nlink?: number | undefined;
}

/** A file to ship, as it was when it was found complete. */
export interface SourceFile {
  /** Path in the manifest. */
  readonly path: string;
  /** Where to read it (a snapshot's path, or the file itself), absolute. */
  readonly source: string | Buffer;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  /** Stat that must still hold after reading. Undefined for files whose bytes are given. */
  readonly guard?: SourceGuard | undefined;
  /** Content given outright (a pointer file made for this checkpoint); `source` is then not read. */
  readonly bytes?: Uint8Array | undefined;
}

/** What to send and where. */
export interface SendRequest {
  readonly store: ObjectStore;
  /** Key prefix of the run, ending in `/`. */
  readonly prefix: string;
  readonly hash: HashName;
  /** Suffix of new chunk keys: `<epoch>-<shipment>`. */
  readonly owner: string;
  readonly files: readonly SourceFile[];
  /** Chunks that may be reused, by hash. */
  readonly reusable: ReadonlyMap<string, ManifestChunk>;
  /** Work at low priority, beside a program that needs the processor. @default false */
  readonly background?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: TransferProgress) => void) | undefined;
}

export interface TransferProgress {
  readonly bytes: number;
  readonly totalBytes: number;
}

/** Chunks (each durable now) and file entries for the manifest. */
export interface SendResult {
  readonly chunks: readonly ManifestChunk[];
  readonly entries: readonly ManifestEntry[];
  /** Bytes of the files. */
  readonly bytes: number;
  /** Bytes really sent; the rest was reused. */
  readonly sentBytes: number;
}

/** What to fetch and where. */
export interface FetchRequest {
  readonly store: ObjectStore;
  readonly prefix: string;
  readonly manifest: Manifest;
  /** Directory to write into, absolute; entries get their manifest path below it. It may hold nothing of that name yet. */
  readonly into: string;
  /**
   * Local files that may already hold the bytes, by manifest path (absolute paths). Any chunk they hold is copied from there
   * instead of fetched, and checked all the same. Copied, never hard-linked: the trainer may write to the restored file in
   * place, and the file it came from must not change with it.
   */
  readonly local?: ReadonlyMap<string, string> | undefined;
  /** Skip these entries. */
  readonly skip?: ReadonlySet<string> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: TransferProgress) => void) | undefined;
}

export interface FetchResult {
  readonly bytes: number;
  /** Bytes really read from the store; the rest was already here. */
  readonly fetchedBytes: number;
}

/** What a check of stored bytes found wrong; empty when all is well. */
export interface ChunkFault {
  readonly key: string;
  readonly fault: "missing" | "wrong size" | "wrong content";
}

/** Moves bytes between files and the store, off the main thread where it can. */
export interface Transfer {
  /** Reads, cuts, hashes and stores files. Throws `OUTLAST_SOURCE_CHANGED` when one changed meanwhile. */
  send(request: SendRequest): Promise<SendResult>;
  /** Fetches and verifies a manifest's files, durable when it resolves. Throws `OUTLAST_CHECKPOINT_DAMAGED` on any wrong or missing byte; what was written by then is left for the caller to remove. */
  fetch(request: FetchRequest): Promise<FetchResult>;
  /** Reads every chunk of a manifest and compares it with its hash. */
  verify(
    request: Pick<FetchRequest, "store" | "prefix" | "manifest" | "signal" | "onProgress">,
  ): Promise<readonly ChunkFault[]>;
  /** Which of a manifest's files (by path) are in `local` with exactly the recorded content. */
  matches(
    request: Pick<FetchRequest, "manifest" | "signal" | "onProgress"> & { readonly local: ReadonlyMap<string, string> },
  ): Promise<ReadonlySet<string>>;
  /** Lifts the limit on background sends for good: from now on time counts more than bandwidth. */
  hurry(): void;
  close(): Promise<void>;
}
