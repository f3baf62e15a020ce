/** What one look at a file, folder or link under the checkpoint directory saw. */
export interface ScanEntry {
  /** Relative to the checkpoint directory, `/`-separated; stray bytes as in path-bytes.ts. */
  readonly path: string;
  readonly type: "file" | "directory" | "link" | "other";
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  /** 0 on a mounted bucket, which numbers its files anew whenever it likes. */
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** Device number; with `ino` it names a file whatever path it was opened by. */
  readonly dev?: number;
  /** When it was made, where the file system keeps that. */
  readonly birthtimeMs?: number;
  /** A link's target as written. */
  readonly target?: string;
}

/** One look at the whole checkpoint directory; the supervisor's own `.outlast` folder is not in it. */
export interface Scan {
  /** Absolute path of the directory. */
  readonly root: string;
  /** By path, in ascending order of paths. */
  readonly entries: ReadonlyMap<string, ScanEntry>;
}

/**
 * How sure a convention is.
 * - `marked`: the framework's own rule says it is complete.
 * - `unmarked`: the framework has no marker; open handles and quiet time must decide.
 * - `incomplete`: its own rule says it is not.
 */
export type CandidateState = "marked" | "unmarked" | "incomplete";

/** One framework checkpoint found in a scan: a folder or file plus its pointer files. */
export interface Candidate {
  readonly convention: string;
  /** Its own folder or file; empty when it is the whole directory. */
  readonly path: string;
  /** Undefined where no step number can be read. */
  readonly step: number | undefined;
  /** Every entry that belongs to it, folders included, pointers not. */
  readonly entries: readonly ScanEntry[];
  /** Marker files that a restore must write last, in order. */
  readonly markers: readonly string[];
  /** Pointer files with the content (or link target) that names this very checkpoint; restored after the markers. */
  readonly pointers: readonly Pointer[];
  readonly state: CandidateState;
  /** For people: which rule decided, or what is missing. */
  readonly why: string;
  /** Set when an unmarked one may also be the beginning of something larger: it counts once a later one appears, or at the program's end. */
  readonly ambiguous?: boolean;
  /** Set when temporary files of an earlier start lie about: after a crash the rest may be half of a save. */
  readonly interrupted?: boolean;
  /** Set when files may come and go within it; elsewhere a file that vanishes means that it is being deleted. */
  readonly shrinks?: boolean;
  /** A file that its framework removes when the save is done. */
  readonly sentinel?: string;
}

/** A file or link outside the checkpoint that names it, such as `latest`. */
export interface Pointer {
  readonly path: string;
  readonly content:
    | { readonly type: "file"; readonly bytes: Uint8Array; readonly mode: number }
    | { readonly type: "link"; readonly target: string };
}

/** Reads a small file under the directory, at most `limit` bytes from `offset`; undefined when it is not there. */
export type ReadSmall = (
  path: string,
  options?: { readonly offset?: number; readonly limit?: number },
) => Promise<Uint8Array | undefined>;

/** A framework's way of laying out checkpoints: one file each under detect/conventions. */
export interface Convention {
  readonly name: string;
  /**
   * Finds this framework's checkpoints in a scan. Never opens a file before its marker is there. Without `read` nothing may be opened yet: what only a
   * read can tell is left open and asked again, with `read`, once nobody writes.
   */
  find(scan: Scan, read: ReadSmall | undefined): Promise<readonly Candidate[]>;
  /** Reads what may only be read once nobody writes any more, such as a step number kept inside the file. */
  refine?(candidate: Candidate, read: ReadSmall, scan: Scan): Promise<Candidate>;
  /** Whether `other`, still unfinished, may turn out to be part of the same save as `candidate`. */
  savedWith?(candidate: Candidate, other: Candidate): boolean;
  /** Joins complete candidates that are one checkpoint (a file and its copy under a fixed name). */
  combine?(complete: readonly Candidate[]): readonly Candidate[];
}

/** A checkpoint that may be shipped now. */
export interface CompleteCheckpoint extends Candidate {
  readonly state: "marked" | "unmarked";
  /** Changes when any byte of it may have changed: an overwritten checkpoint has the same path and another fingerprint. */
  readonly fingerprint: string;
}

/** How the child is when the directory is looked at; decides how far unmarked files can be trusted. */
export type WriterState =
  /** Running: `pid` is the root of its process tree. */
  | { readonly state: "running"; readonly pid: number }
  /** No child has run yet in this start. */
  | { readonly state: "not-started" }
  /**
   * It ended by itself, well. After a notice that proves little: the handler everyone copies leaves in the middle of whatever was going on, a save
   * included.
   */
  | { readonly state: "exited"; readonly isNoticed?: boolean | undefined }
  /**
   * It failed or was killed, maybe in the middle of a write. `unwound`: by an exit code, so its own clean-up ran and may have closed a half-written file
   * properly (torch.save then writes the end record of a zip that lacks tensors).
   */
  | { readonly state: "died"; readonly unwound?: boolean | undefined };

/** Finds checkpoints as they become complete. */
export interface Detector {
  /**
   * One look: every complete checkpoint there is now, oldest first (by step, else by time). Unmarked ones, by state of the writer:
   * `running` after quiet time with no open handle; `exited` at once, but after a notice only what was written after it by nobody who was at it before; `died` only those found
   * complete before, and single files whose last bytes prove that they were written to the end, if a signal ended it or they were closed
   * at an earlier look. What the program vouched for needs only to be closed. `not-started` when
   * structurally sound, which proves nothing about a missing second file: trust those only where nothing better is stored (an empty log).
   */
  poll(writer: WriterState): Promise<readonly CompleteCheckpoint[]>;
  /**
   * The writer is about to be told to stop; `atMs` is the time by the file system's clock. Files that it has open now, or wrote before, may be
   * half of a save that it will not finish.
   */
  noticed(atMs: number): void;
  /**
   * The program itself says that the checkpoint at `path` is complete; `atMs` is the time by the file system's clock. Good for what it had written by
   * then, and no longer once it writes on.
   */
  vouch(path: string, atMs: number): void;
  /** Everything that looks like a checkpoint now, finished or not. */
  candidates(): Promise<readonly Candidate[]>;
  /** Why the newest unfinished candidate is not complete, for people; undefined when there is none. */
  readonly waitingFor: string | undefined;
  /** Whether exactly the entries of `checkpoint` are still there, unchanged, by a fresh stat of each. */
  recheck(checkpoint: CompleteCheckpoint): Promise<boolean>;
}
