import type { Found } from "./conventions/index.ts";
import type { LookAtOpenFiles, OpenFiles } from "./open-files.ts";
import { folderOf } from "./tree.ts";
import type { Candidate, ScanEntry, WriterState } from "./types.ts";

/** One look: the open files are asked for once, and only when they matter. */
export class Look {
  readonly writer: WriterState;
  readonly now: number;
  readonly #found: readonly Found[];
  readonly #pid: number | undefined;
  readonly #lookAtOpenFiles: LookAtOpenFiles | undefined;
  #open: OpenFiles | undefined;

  constructor(
    writer: WriterState,
    now: number,
    found: readonly Found[],
    look: LookAtOpenFiles | undefined,
    pid: number | undefined,
  ) {
    this.writer = writer;
    this.now = now;
    this.#found = found;
    this.#lookAtOpenFiles = look;
    this.#pid = pid;
  }

  /** Whether nothing is known of open files. */
  get isBlind(): boolean {
    return this.#files?.known === false;
  }

  /** Whether the program has gone on to a later checkpoint beside this one: saves follow one another. */
  hasSuccessor({ convention, path, step }: Candidate): boolean {
    return this.#found.some(({ candidate: other }) => {
      const isBeside = other.convention === convention && folderOf(other.path) === folderOf(path);
      return isBeside && step !== undefined && other.step !== undefined && other.step > step;
    });
  }

  /** A file of the candidate that is open for writing, also by processes that outlived the main one. */
  openIn(candidate: Candidate): string | undefined {
    const files = this.#files;
    return files?.known
      ? candidate.entries.find((entry) => entry.type === "file" && files.has(entry))?.path
      : undefined;
  }

  /** Whether a file may be read now without a writer noticing: nobody has it open, or nobody writes at all. */
  isClosed(entry: ScanEntry): boolean {
    const files = this.#files;
    if (files?.known) return !files.has(entry);
    return this.writer.state !== "running";
  }

  get #files(): OpenFiles | undefined {
    if (this.#pid === undefined) return undefined;
    this.#open ??= this.#lookAtOpenFiles?.(this.#pid);
    return this.#open;
  }
}
