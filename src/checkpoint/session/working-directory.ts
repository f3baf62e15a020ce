import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { randomId } from "../../core/index.ts";
import {
  type CompleteCheckpoint,
  createDetector,
  type Detector,
  type ScanEntry,
  scanDirectory,
  type WriterState,
} from "../detect/index.ts";
import type { Note } from "../local/note.ts";
import { createNoteFile, type NoteFile } from "../local/note-file.ts";
import { endOrphans, identify } from "../local/orphan.ts";
import { bootId, type OwnFolder, openOwnFolder } from "../local/own-folder.ts";
import { type LocalPlan, planLocal } from "../local/plan-local.ts";
import { undoRestoring } from "../local/restoring.ts";
import type { CommitState, LogState } from "../log/state.ts";
import type { Manifest } from "../manifest.ts";
import type { Resume } from "../session-types.ts";
import { clearNewer, trimAside } from "./clear-newer.ts";
import type { SessionOptions } from "./session-options.ts";

/** The checkpoint directory during one start: what was in it, what may stay, what is new. */
export class WorkingDirectory {
  readonly dir: string;
  readonly own: OwnFolder;
  readonly detector: Detector;
  readonly #options: SessionOptions;
  readonly #boot: string;
  readonly #noteFile: NoteFile;
  readonly #found: Note | undefined;
  readonly #warn: (message: string, error?: unknown) => void;
  #note: Note | undefined;
  #kept: readonly CompleteCheckpoint[] = [];
  #baseline: ReadonlyMap<string, string> = new Map();

  private constructor(
    options: SessionOptions,
    state: { own: OwnFolder; boot: string; noteFile: NoteFile; note: Note | undefined },
    warn: (message: string, error?: unknown) => void,
  ) {
    const { dir, clock, completeWhen, ignore, of = 1 } = options;
    this.dir = dir;
    this.own = state.own;
    const isBucket = state.own.bucket !== undefined;
    this.detector = createDetector({ root: dir, clock, completeWhen, ignore, isShard: of > 1, isBucket });
    this.#options = options;
    this.#boot = state.boot;
    this.#noteFile = state.noteFile;
    this.#found = state.note;
    this.#warn = warn;
  }

  /** Opens the directory. */
  static async open(
    options: SessionOptions,
    warn: (message: string, error?: unknown) => void,
  ): Promise<WorkingDirectory> {
    const own = await openOwnFolder(options.dir);
    const noteFile = createNoteFile(own);
    const note = await noteFile.read();
    const boot = await bootId();
    await trimAside(own);
    if (own.bucket && options.completeWhen === undefined && !options.restoreOnly) warn(bucketRule(options.dir));
    return new WorkingDirectory(options, { own, boot, noteFile, note }, warn);
  }

  /**
   * Makes the directory ours: ends a program that an earlier start left running here, and takes back what a restore that was cut off had written. Not
   * before the run was taken over: until then both may be the business of a start that lives.
   */
  async takeOver(): Promise<void> {
    await this.#endOrphans();
    await this.undoRestoring();
  }

  /** Takes back what a restore that was cut off had written. */
  async undoRestoring(): Promise<void> {
    if (this.own.bucket) await undoRestoring(this.dir, this.own.root);
  }

  /** Only after the run was taken over: a supervisor that still lives sees its program die and has to learn from the log that this was no failure. */
  async #endOrphans(): Promise<void> {
    const { run, dir, clock, shard = 0, of = 1 } = this.#options;
    // Every start writes its note before its program begins.
    if (this.#found?.boot !== this.#boot) return;
    const killed = await endOrphans({ child: this.#found.child, run, dir, shard: `${shard}/${of}`, clock });
    if (killed > 0) this.#warn(`an earlier start's program was still running here; ended ${killed} process(es)`);
  }

  /** What to do with what lies here, given the commit to resume from; `manifest` reads that commit's part of this shard. */
  async plan(
    target: CommitState | undefined,
    state: LogState,
    manifest: () => Promise<Manifest | undefined>,
  ): Promise<LocalPlan> {
    const { run, store, of = 1 } = this.#options;
    const found = await this.detector.poll({ state: "not-started" });
    const stored = target && found.length > 0 ? await manifest() : undefined;
    return planLocal({
      found,
      target,
      hasCommits: state.committed > 0,
      of,
      run,
      store: store.url,
      note: this.#found,
      boot: this.#boot,
      isTarget: (checkpoint) => stored !== undefined && isSameContent(checkpoint, stored),
    });
  }

  /** Goes on from checkpoints that are here already; answers with the newest, if any. */
  async keep(keep: readonly CompleteCheckpoint[], stepIfNone: number, epoch: number): Promise<Resume | undefined> {
    this.#kept = keep;
    const newest = keep.at(-1);
    const resumed = newest && { step: newest.step ?? stepIfNone, path: newest.path };
    await this.clear(resumed, epoch, false);
    return resumed && { step: resumed.step, path: join(this.dir, resumed.path) };
  }

  /** Moves aside whatever would compete with the checkpoint resumed from. */
  async clear(
    resumed: { readonly step: number; readonly path: string } | undefined,
    epoch: number,
    isReplaced: boolean,
  ): Promise<void> {
    const { moved, folder } = await clearNewer(
      this.dir,
      this.own,
      this.detector,
      resumed,
      this.#kept,
      epoch,
      isReplaced,
    );
    if (moved.length === 0) return;
    this.#warn(`${moved.join(", ")} in ${this.dir} is not of this run's past, or not whole; moved to ${folder}`);
  }

  /** Writes down which past the directory belongs to, and remembers what is in it: only what differs later is new. */
  async settle(epoch: number, base: number): Promise<void> {
    const { run, store } = this.#options;
    const complete = this.#kept.map((checkpoint) => checkpoint.fingerprint);
    this.#note = { run, store: store.url, epoch, base, boot: this.#boot, complete };
    await this.#noteFile.write(this.#note);
    const scan = await scanDirectory(this.dir, { isBucket: this.own.bucket !== undefined });
    const kept = new Set(this.#kept.flatMap((checkpoint) => checkpoint.entries.map((entry) => entry.path)));
    const old = [...scan.entries.values()].filter((entry) => !kept.has(entry.path));
    this.#baseline = new Map(old.map((entry) => [entry.path, stampOf(entry)]));
  }

  /** The time by the file system's clock, which may be another machine's; far in the future when it cannot be had, so that nothing is trusted. */
  async now(): Promise<number> {
    // A new name each time: Cloud Storage allows one write a second for a name.
    const probe = join(this.own.root, this.own.bucket ? `now-${randomId()}` : "now");
    try {
      await writeFile(probe, "");
      const { mtimeMs } = await stat(probe);
      if (this.own.bucket) await rm(probe);
      return mtimeMs;
    } catch (error) {
      this.#warn("the file system's clock could not be read", error);
      return Number.POSITIVE_INFINITY;
    }
  }

  /** Notes the program that now writes here, so that a later start can end it if this supervisor is killed. */
  async noteChild(pid: number): Promise<void> {
    const child = identify(pid);
    if (child) await this.#saveNote({ child });
  }

  /** Complete checkpoints that are new since the program started, oldest first; `onSaved` is told of each once. */
  async fresh(
    writer: WriterState,
    onSaved: (checkpoint: CompleteCheckpoint) => void,
  ): Promise<readonly CompleteCheckpoint[]> {
    const complete = await this.detector.poll(writer);
    const fresh = complete.filter((checkpoint) =>
      checkpoint.entries.some(
        (entry) => entry.type !== "directory" && this.#baseline.get(entry.path) !== stampOf(entry),
      ),
    );
    const unseen = fresh.filter((checkpoint) => !this.#note?.complete.includes(checkpoint.fingerprint));
    if (unseen.length > 0) {
      for (const checkpoint of unseen) onSaved(checkpoint);
      await this.#saveNote({ complete: complete.map((checkpoint) => checkpoint.fingerprint) });
    }
    return fresh;
  }

  async #saveNote(change: Partial<Note>): Promise<void> {
    if (!this.#note) return;
    this.#note = { ...this.#note, ...change };
    try {
      await this.#noteFile.write(this.#note);
    } catch (error) {
      this.#warn("the note in the checkpoint directory could not be written", error);
    }
  }
}

/** What a user of a mounted bucket has to know, in one line. */
function bucketRule(dir: string): string {
  return `${dir} is a mounted Cloud Storage bucket: a checkpoint there is read only once its framework's marker is written; for a program without one give --complete-when, or call outlast.saved()`;
}

/** Names a file's state; without ctime, which snapshots move. */
function stampOf(entry: ScanEntry): string {
  return `${entry.type} ${entry.ino} ${entry.size} ${entry.mtimeMs} ${entry.target ?? ""}`;
}

/** Whether a checkpoint's files have the sizes and times they were stored with; a restore brings both back. */
function isSameContent(checkpoint: CompleteCheckpoint, manifest: Manifest): boolean {
  const stored = new Map(manifest.entries.map((entry) => [entry.path, entry]));
  const pointers = new Set(checkpoint.pointers.map((pointer) => pointer.path));
  return checkpoint.entries.every((entry) => {
    const same = stored.get(entry.path);
    if (entry.type !== "file" || pointers.has(entry.path)) return same?.type === entry.type;
    return same?.type === "file" && same.size === entry.size && Math.abs(same.mtimeMs - entry.mtimeMs) < 1;
  });
}
