import type { HashName } from "./hash.ts";

/** A stored chunk: an immutable object whose content has this hash. */
export interface ManifestChunk {
  /** The object's key below the run, such as `chunks/ab/ab12….7-1`. */
  readonly key: string;
  /** Hexadecimal hash of the object's bytes. */
  readonly hash: string;
  readonly size: number;
  /** Position of the live commit whose chunk this is, when it was not sent by this shipment. */
  readonly from?: number;
}

/** A run of a file's bytes: `length` bytes at `offset` of chunk number `chunk`. */
export type Piece = readonly [chunk: number, offset: number, length: number];

/** A regular file. Its hash is the hash of the concatenated (raw) hashes of its pieces' bytes. */
export interface FileEntry {
  readonly type: "file";
  readonly path: string;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly mtimeMs: number;
  readonly hash: string;
  readonly pieces: readonly Piece[];
}

/** A directory; listed so that empty ones and modes come back. */
export interface DirectoryEntry {
  readonly type: "directory";
  readonly path: string;
  readonly mode: number;
}

/** A symbolic link; its target is relative and stays inside the checkpoint directory. */
export interface LinkEntry {
  readonly type: "link";
  readonly path: string;
  readonly target: string;
}

export type ManifestEntry = FileEntry | DirectoryEntry | LinkEntry;

/**
 * What one shard stored for one step. Paths are relative to the checkpoint directory, `/`-separated; a name that is not
 * valid UTF-8 keeps its stray bytes as lone surrogates U+DC80…U+DCFF (see path-bytes.ts).
 */
export interface Manifest {
  readonly format: 1;
  readonly run: string;
  readonly step: number;
  readonly shard: number;
  readonly of: number;
  /** Position of the gang (one shard: the epoch) whose past these bytes belong to. */
  readonly gang: number;
  readonly epoch: number;
  readonly shipment: number;
  /** The convention that recognised the checkpoint. */
  readonly convention: string;
  /** The checkpoint's own folder or file; empty when it is the whole directory. */
  readonly path: string;
  readonly hash: HashName;
  readonly chunks: readonly ManifestChunk[];
  readonly entries: readonly ManifestEntry[];
  /** Markers and pointers, in the order in which a restore writes them, after everything else. */
  readonly last: readonly string[];
  /** Sum of the file sizes. */
  readonly bytes: number;
  /** When the newest of its files was last written, for people. */
  readonly savedAt: string;
  /** Milliseconds the program took to write it, judged by its files' times; absent when they do not tell. */
  readonly saveMs?: number;
  /** The commit of another run that this is a copy of: that run's name, the record's position in its log, and its id. */
  readonly copiedFrom?: { readonly run: string; readonly at: number; readonly id: string };
}
