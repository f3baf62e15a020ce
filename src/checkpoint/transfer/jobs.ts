import type { HashName } from "../hash.ts";
import type { SourceGuard } from "./types.ts";

/** What all jobs of one request share. */
export interface Setup {
  readonly hash: HashName;
  /** Key prefix of the run. */
  readonly prefix: string;
  /** Suffix of new chunk keys; empty when nothing is sent. */
  readonly owner: string;
  /** Memory of the `HashClaims`; undefined when nothing is sent. */
  readonly claims: SharedArrayBuffer | undefined;
  /** Memory of the `SharedRate` that sending is held to, if it is. */
  readonly rate?: SharedArrayBuffer | undefined;
}

/** A run of a source file's bytes. */
export interface SendPart {
  /** The file's path in the manifest, for messages. */
  readonly path: string;
  readonly source: string | Uint8Array;
  readonly bytes?: Uint8Array | undefined;
  readonly guard?: SourceGuard | undefined;
  readonly fileSize: number;
  readonly offset: number;
  readonly length: number;
}

/** Reads parts as one chunk, hashes it and stores it unless it is stored. */
export interface SendJob {
  readonly kind: "send";
  readonly size: number;
  readonly parts: readonly SendPart[];
}

export interface SendOutcome {
  readonly hash: string;
  /** Raw hashes of the parts, one after the other. */
  readonly partHashes: Uint8Array;
  readonly isSent: boolean;
}

/** A chunk as a manifest names it. */
export interface WantedChunk {
  readonly key: string;
  readonly hash: string;
  readonly size: number;
}

/** How a restored file is to look when its bytes are there. */
export interface FileFinish {
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

/** A run of a chunk's bytes and the place they go to. */
export interface FetchTarget {
  readonly path: string | Uint8Array;
  /** Offset in the file. */
  readonly at: number;
  /** Offset in the chunk. */
  readonly from: number;
  readonly length: number;
  /** Set when these are all of the file's bytes: it is then created and finished in one go. */
  readonly whole?: FileFinish | undefined;
  /** Whether the outcome must tell the hash of these bytes. */
  readonly isHashed: boolean;
}

/** A run of a local file that may hold a chunk's bytes. */
export interface Seed {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
}

/** Gets a chunk, from local files that hold it or from the store, checks it and writes it where it belongs. */
export interface FetchJob {
  readonly kind: "fetch";
  readonly chunk: WantedChunk;
  /** Together the whole chunk, in order; empty when no local file can hold it. */
  readonly seeds: readonly Seed[];
  readonly targets: readonly FetchTarget[];
}

export interface FetchOutcome {
  readonly isFetched: boolean;
  /** Raw hashes of the targets that asked for them, one after the other. */
  readonly targetHashes: Uint8Array;
}

/** Creates folders, parents first. */
export interface FoldersJob {
  readonly kind: "folders";
  readonly paths: readonly (string | Uint8Array)[];
}

/** Gives files their size, mode and time and makes them durable; `isNew` creates them first. */
export interface FinishJob {
  readonly kind: "finish";
  readonly files: readonly (FileFinish & { readonly path: string | Uint8Array; readonly isNew: boolean })[];
}

/** Gives folders their mode, where one is given, and makes their entries durable. */
export interface SealJob {
  readonly kind: "seal";
  readonly folders: readonly { readonly path: string | Uint8Array; readonly mode: number | undefined }[];
}

/** Reads a chunk and compares it with its hash. */
export interface VerifyJob {
  readonly kind: "verify";
  readonly chunk: WantedChunk;
}

export interface VerifyOutcome {
  readonly fault: "missing" | "wrong size" | "wrong content" | undefined;
}

/** A run of a local file and the size the file should have. */
export interface MatchRun {
  readonly path: string;
  readonly fileSize: number;
  readonly offset: number;
  readonly length: number;
}

/** Hashes runs of local files. */
export interface MatchJob {
  readonly kind: "match";
  readonly runs: readonly MatchRun[];
}

export interface MatchOutcome {
  /** Raw hash of each run; undefined where the file is not there or has another size. */
  readonly hashes: readonly (Uint8Array | undefined)[];
}

/** Makes durable what this lane has stored. */
export interface SettleJob {
  readonly kind: "settle";
}

export type Job = SendJob | FetchJob | FoldersJob | FinishJob | SealJob | VerifyJob | MatchJob | SettleJob;

/** What each kind of job reports. */
export interface Outcomes {
  readonly send: SendOutcome;
  readonly fetch: FetchOutcome;
  readonly folders: undefined;
  readonly finish: undefined;
  readonly seal: undefined;
  readonly verify: VerifyOutcome;
  readonly match: MatchOutcome;
  readonly settle: undefined;
}

export type Outcome<J extends Job> = Outcomes[J["kind"]];
