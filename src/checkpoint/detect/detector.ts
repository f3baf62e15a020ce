import { statfs } from "node:fs/promises";
import type { Clock } from "../../core/index.ts";
import { faultOnReading, readClosed } from "./careful-read.ts";
import {
  createGeneric,
  createUserPattern,
  type Found,
  findCandidates,
  frameworks,
  singleFile,
} from "./conventions/index.ts";
import { changeStamp, fingerprint, isSameScan, stamp } from "./fingerprint.ts";
import { compileGlob } from "./glob.ts";
import { Look } from "./look.ts";
import { createOpenFilesLook, type LookAtOpenFiles, type OpenFiles } from "./open-files.ts";
import { quietTimes, requiredQuiet } from "./quiet-time.ts";
import { createReadSmall } from "./read-small.ts";
import { findRemoval } from "./removal.ts";
import { scanDirectory, statEntry } from "./scan.ts";
import { checkStructure, type Structure } from "./structure.ts";
import { without } from "./tree.ts";
import type {
  Candidate,
  CompleteCheckpoint,
  Convention,
  Detector,
  ReadSmall,
  Scan,
  ScanEntry,
  WriterState,
} from "./types.ts";

/** How a {@link Detector} looks. */
export interface DetectorOptions {
  /** The checkpoint directory, absolute. */
  readonly root: string;
  readonly clock: Clock;
  /** Rounds of conventions: a later round is asked only when the earlier ones find nothing. @default every framework; single files; the generic rule */
  readonly conventions?: readonly (readonly Convention[])[];
  /** Only what a file matching this pattern marks is a checkpoint; see {@link createUserPattern}. */
  readonly completeWhen?: string | undefined;
  /** Set when the directory holds one shard's part: what marks the whole may lie with another shard. @default false */
  readonly isShard?: boolean | undefined;
  /** Paths matching any of these, and all below them, are not looked at. */
  readonly ignore?: readonly string[] | undefined;
  /**
   * Set when the directory is a mounted Cloud Storage bucket: opening a file that is being written ends its upload early, so nothing is opened before
   * the checkpoint's marker is there and closed. @default false
   */
  readonly isBucket?: boolean | undefined;
  /** What the writer has open. @default /proc */
  readonly openFiles?: LookAtOpenFiles | undefined;
}

const fuse = 0x6573_5546;

/** Creates a detector for one directory; it keeps what it saw between looks, so use one for the whole life of a child. */
export function createDetector(options: DetectorOptions): Detector {
  return new DirectoryDetector(options);
}

/** What is remembered of a candidate between two looks. */
interface Memory {
  fingerprint: string;
  entries: readonly ScanEntry[];
  changedAt: number;
  /** When it was first seen as it is now, with nobody writing. */
  since: number;
  looks: number;
  /** Set while its files only vanish: somebody deletes it. */
  isVanishing: boolean;
  hadSentinel: boolean;
  /** The checkpoint as reported, while it stays as it is. */
  complete?: CompleteCheckpoint | undefined;
  completeSince: number;
  /** Whether its completeness was proven while a writer could have been seen. */
  isProven: boolean;
  /** Whether a look at the running program saw it as it is now, with nobody writing. */
  wasClosed?: boolean;
  /** Stamps of its entries when it was last proven complete. */
  proven?: ReadonlySet<string>;
}

/** One look at the directory. */
interface Finding {
  /** With what is ignored. */
  readonly seen: Scan;
  readonly scan: Scan;
  readonly found: readonly Found[];
}

class DirectoryDetector implements Detector {
  readonly #root: string;
  readonly #clock: Clock;
  readonly #rounds: readonly (readonly Convention[])[];
  readonly #ignore: readonly ((path: string) => boolean)[];
  readonly #lookAtOpenFiles: LookAtOpenFiles;
  readonly #read: ReadSmall;
  readonly #isBucket: boolean;
  readonly #memories = new Map<string, Memory>();
  #hasFolderTimes: boolean | undefined;
  #last: Finding | undefined;
  #pid: number | undefined;
  #waitingFor: string | undefined;
  /** By path: when the program called it complete. */
  readonly #vouched = new Map<string, number>();
  #notice: { readonly atMs: number; readonly open: OpenFiles | undefined } | undefined;

  constructor(options: DetectorOptions) {
    this.#root = options.root;
    this.#clock = options.clock;
    this.#rounds =
      options.completeWhen !== undefined
        ? [[createUserPattern(options.completeWhen)]]
        : (options.conventions ?? [
            frameworks({ isShard: options.isShard ?? false }),
            [singleFile],
            [createGeneric({ startedAtMs: options.clock.now() })],
          ]);
    this.#ignore = (options.ignore ?? []).map(compileGlob);
    this.#lookAtOpenFiles = options.openFiles ?? createOpenFilesLook(options.root);
    this.#read = createReadSmall(options.root);
    this.#isBucket = options.isBucket ?? false;
  }

  get waitingFor(): string | undefined {
    return this.#waitingFor;
  }

  async poll(writer: WriterState): Promise<readonly CompleteCheckpoint[]> {
    if (writer.state === "running") this.#pid = writer.pid;
    this.#hasFolderTimes ??= (await statfs(this.#root)).type !== fuse;
    const { scan, found } = await this.#find();
    this.#forget(found);
    const now = this.#clock.monotonic();
    const look = new Look(writer, now, found, this.#pid === undefined ? undefined : this.#lookAtOpenFiles, this.#pid);
    const complete: { readonly checkpoint: CompleteCheckpoint; readonly found: Found; readonly memory: Memory }[] = [];
    const pending: { readonly candidate: Candidate; readonly why: string }[] = [];
    for (const each of found) {
      const memory = this.#remember(each.candidate, now);
      const result = await this.#judge(each, memory, look, scan);
      if (typeof result === "string") pending.push({ candidate: each.candidate, why: result });
      else complete.push({ checkpoint: result, found: each, memory });
    }
    const ready = complete.filter(({ checkpoint, found: { convention }, memory }) => {
      const companion = pending.find(({ candidate }) => convention.savedWith?.(checkpoint, candidate));
      const mustWait = companion && writer.state === "running" && now - memory.completeSince < quietTimes.companion;
      if (mustWait)
        pending.push({ candidate: checkpoint, why: `${companion.candidate.path} is being written beside it` });
      return !mustWait;
    });
    this.#waitingFor = newest(pending);
    return sortByAge(combine(ready));
  }

  async candidates(): Promise<readonly Candidate[]> {
    return (await this.#find()).found.map(({ candidate }) => candidate);
  }

  /** What was found in the directory as it is now; the same objects again while nothing in it changes. */
  async #find(): Promise<Finding> {
    const seen = await scanDirectory(this.#root, { isBucket: this.#isBucket });
    if (this.#last && isSameScan(this.#last.seen, seen)) return this.#last;
    const scan = without(seen, ({ path }) => this.#ignore.some((matches) => matches(path)));
    this.#last = {
      seen,
      scan,
      found: await findCandidates(scan, this.#rounds, this.#isBucket ? undefined : this.#read),
    };
    return this.#last;
  }

  async recheck(checkpoint: CompleteCheckpoint): Promise<boolean> {
    const { entries } = checkpoint;
    const batch = 64;
    for (let at = 0; at < entries.length; at += batch) {
      const isSame = await Promise.all(
        entries.slice(at, at + batch).map(async (entry) => {
          const now = await statEntry(this.#root, entry.path, { isBucket: this.#isBucket });
          return now !== undefined && stamp(now) === stamp(entry);
        }),
      );
      if (isSame.includes(false)) return false;
    }
    return true;
  }

  #forget(found: readonly Found[]): void {
    const keys = new Set(found.map(({ candidate }) => keyOf(candidate)));
    for (const key of this.#memories.keys()) if (!keys.has(key)) this.#memories.delete(key);
  }

  #remember(candidate: Candidate, now: number): Memory {
    const print = fingerprint(candidate);
    const key = keyOf(candidate);
    const memory = this.#memories.get(key);
    const hasSentinel = candidate.entries.some(({ path }) => path === candidate.sentinel);
    if (!memory) {
      const made: Memory = {
        fingerprint: print,
        entries: candidate.entries,
        changedAt: changeStamp(candidate.entries),
        since: now,
        looks: 1,
        isVanishing: false,
        hadSentinel: hasSentinel,
        completeSince: now,
        isProven: false,
      };
      this.#memories.set(key, made);
      return made;
    }
    memory.looks += 1;
    const changedAt = changeStamp(candidate.entries);
    // Once it is complete, a change time alone is no news: shipping it links its files.
    if (memory.fingerprint === print && (memory.complete || memory.changedAt === changedAt)) return memory;
    const lost = vanished(memory.entries, candidate.entries, candidate.sentinel);
    memory.isVanishing = lost === "only" || (memory.isVanishing && lost !== "rewritten");
    memory.hadSentinel ||= hasSentinel;
    memory.fingerprint = print;
    memory.entries = candidate.entries;
    memory.changedAt = changedAt;
    memory.since = now;
    memory.looks = 1;
    memory.complete = undefined;
    memory.isProven = false;
    memory.wasClosed = false;
    return memory;
  }

  /** The checkpoint, or why it is not complete. */
  async #judge(found: Found, memory: Memory, look: Look, scan: Scan): Promise<CompleteCheckpoint | string> {
    const { candidate } = found;
    if (candidate.state === "incomplete") return candidate.why;
    if (!candidate.shrinks) {
      if (memory.isVanishing) return "its files are being deleted";
      const shrunk = this.#hasFolderTimes && !memory.hadSentinel ? findRemoval(candidate) : undefined;
      if (shrunk !== undefined) return `something was deleted from ${shrunk} after it was written`;
    }
    if (memory.complete && (memory.isProven || look.writer.state === "not-started")) return memory.complete;
    const open = look.openIn(candidate);
    if (open !== undefined) {
      memory.since = look.now;
      return `${open} is open for writing`;
    }
    if (look.writer.state === "running" && !look.isBlind) memory.wasClosed = true;
    const wait = this.#mustWait(candidate, memory, look);
    if (wait !== undefined) return wait;
    const read = this.#isBucket ? readClosed(this.#read, candidate, look, scan) : this.#read;
    const fault = this.#isBucket ? await faultOnReading(found, scan, read) : undefined;
    if (fault !== undefined) return fault;
    const structure = await this.#checkStructure(candidate, read);
    if (structure.fault !== undefined) return structure.fault;
    const isUnmarked = candidate.state === "unmarked";
    const doubt = isUnmarked ? this.#doubtAbout(candidate, memory, look.writer, structure.whole) : undefined;
    if (doubt !== undefined) return doubt;
    const refined = (await found.convention.refine?.(candidate, read, scan)) ?? candidate;
    if (refined.state === "incomplete") return refined.why;
    memory.complete = { ...refined, state: refined.state, fingerprint: memory.fingerprint };
    memory.completeSince = look.now;
    memory.isProven = look.writer.state !== "not-started" || candidate.state === "marked";
    if (memory.isProven) memory.proven = new Set(candidate.entries.map(stamp));
    return memory.complete;
  }

  /** Why an unmarked candidate whose writer has ended may not be trusted; undefined when it may. */
  #doubtAbout(candidate: Candidate, memory: Memory, writer: WriterState, isWhole: boolean): string | undefined {
    const isProof = isWhole && candidate.entries.length === 1;
    if (this.#isVouchedFor(candidate)) return undefined;
    if (writer.state === "exited" && writer.isNoticed) {
      const files = candidate.entries.filter(({ type }) => type === "file");
      const doubtful = files.find(
        (file) => !memory.proven?.has(stamp(file)) && !this.#isUntouchedByNotice(file, isProof),
      );
      return (
        doubtful && `the program left when it was told to stop, and may have been saving ${doubtful.path} just then`
      );
    }
    if (writer.state !== "died") return undefined;
    // Killed by a signal, nothing of its own clean-up ran: a proper end of the file was written by the save itself. And what was closed
    // before and has not changed is not what it was writing at its end.
    if (isProof && (!writer.unwound || memory.wasClosed)) return undefined;
    return "the program died, and nothing proves that its save was finished";
  }

  /**
   * Whether the notice cannot have cut off the writing of a file: it was begun afterwards, or it was closed at that moment and written anew. One that was closed and
   * is all there is to the checkpoint needs no second writing if its own end proves it whole.
   */
  #isUntouchedByNotice(file: ScanEntry, isProof: boolean): boolean {
    if (!this.#notice) return false;
    const { atMs, open } = this.#notice;
    if ((file.birthtimeMs ?? 0) > atMs) return true;
    return open?.known === true && !open.has(file) && (isProof || file.mtimeMs > atMs);
  }

  /** Whether the program called this checkpoint complete and has not written to it since. */
  #isVouchedFor(candidate: Candidate): boolean {
    const { path, entries } = candidate;
    if (this.#vouched.size === 0) return false;
    // A program whose directory is one checkpoint may name any file of it.
    const atMs = this.#vouched.get(path) ?? (path === "" ? Math.max(...this.#vouched.values()) : undefined);
    return atMs !== undefined && entries.every(({ type, mtimeMs }) => type !== "file" || mtimeMs <= atMs);
  }

  vouch(path: string, atMs: number): void {
    this.#vouched.set(path, atMs);
  }

  noticed(atMs: number): void {
    const pid = this.#pid;
    this.#notice = { atMs, open: pid === undefined ? undefined : this.#lookAtOpenFiles(pid) };
  }

  #mustWait(candidate: Candidate, memory: Memory, look: Look): string | undefined {
    const { writer } = look;
    if (writer.state === "not-started") {
      if (candidate.state === "marked") return undefined;
      if (candidate.ambiguous) return candidate.why;
      return candidate.interrupted ? "temporary files tell of an unfinished save" : undefined;
    }
    const isVouchedFor = this.#isVouchedFor(candidate);
    if (isVouchedFor && writer.state !== "running") return undefined;
    if (writer.state === "died") {
      // An unmarked single file may still prove itself by its structure.
      return candidate.ambiguous ? candidate.why : undefined;
    }
    if (writer.state === "exited") return undefined;
    if (candidate.ambiguous && !isVouchedFor && !look.hasSuccessor(candidate))
      return `${candidate.why}; it counts once a later one is begun`;
    if (this.#isBucket && candidate.state === "unmarked" && !isVouchedFor && candidate.markers.length === 0)
      return `it has no marker, and on a Cloud Storage mount nothing is read without one while the program runs (${candidate.why}); give --complete-when, or call outlast.saved()`;
    const state = isVouchedFor ? "marked" : candidate.state;
    const required = requiredQuiet({ ...candidate, state }, look.isBlind, this.#isBucket);
    const quiet = look.now - memory.since;
    if (memory.looks >= 2 && quiet >= required) return undefined;
    return `unchanged for ${(quiet / 1000).toFixed(1)} s of the ${(required / 1000).toFixed(1)} s it must be (${candidate.why})`;
  }

  async #checkStructure(
    candidate: Candidate,
    read: ReadSmall,
  ): Promise<{ readonly whole: boolean; readonly fault: string | undefined }> {
    const markers = new Set(candidate.markers);
    let whole = true;
    for (const entry of candidate.entries) {
      if (entry.type === "other")
        return { whole: false, fault: `${entry.path} is neither a file, a folder nor a link` };
      if (entry.type !== "file") continue;
      // A marker vouches for empty text files, never for empty data; itself it may be empty where the user says what it is.
      const mayBeEmpty = markers.has(entry.path)
        ? candidate.convention === "complete-when"
        : candidate.state === "marked" && !isData(entry.path);
      const structure: Structure = await checkStructure(entry, read, mayBeEmpty);
      if (structure.verdict === "broken")
        return { whole: false, fault: `${entry.path} is not whole: ${structure.why}` };
      if (structure.verdict !== "whole") whole = false;
    }
    return { whole, fault: undefined };
  }
}

function keyOf({ convention, path }: Candidate): string {
  return `${convention}\n${path}`;
}

/** How a set of entries lost some: `only` when all that is left is as it was, `rewritten` when something new came. */
function vanished(
  before: readonly ScanEntry[],
  after: readonly ScanEntry[],
  sentinel: string | undefined,
): "only" | "rewritten" | "none" {
  const old = new Map(before.map((entry) => [entry.path, stamp(entry)]));
  if (after.some((entry) => old.get(entry.path) !== stamp(entry))) return "rewritten";
  const left = new Set(after.map(({ path }) => path));
  return before.some(({ path }) => path !== sentinel && !left.has(path)) ? "only" : "none";
}

function isData(path: string): boolean {
  return /\.(?:pt|pth|bin|safetensors|distcp|ckpt|pkl|h5|hdf5|keras|npy|npz|json|ubj)$/.test(path);
}

function combine(
  ready: readonly { readonly checkpoint: CompleteCheckpoint; readonly found: Found }[],
): readonly CompleteCheckpoint[] {
  const byConvention = new Map<Convention, CompleteCheckpoint[]>();
  for (const { checkpoint, found } of ready) {
    byConvention.set(found.convention, [...(byConvention.get(found.convention) ?? []), checkpoint]);
  }
  return [...byConvention].flatMap(([convention, checkpoints]) => {
    const joined = convention.combine?.(checkpoints) ?? checkpoints;
    return joined.flatMap((candidate) =>
      candidate.state === "incomplete"
        ? []
        : [{ ...candidate, state: candidate.state, fingerprint: fingerprint(candidate) }],
    );
  });
}

function sortByAge(checkpoints: readonly CompleteCheckpoint[]): readonly CompleteCheckpoint[] {
  return [...checkpoints].sort((a, b) =>
    a.step !== undefined && b.step !== undefined && a.step !== b.step ? a.step - b.step : lastWrite(a) - lastWrite(b),
  );
}

function lastWrite({ entries }: Pick<Candidate, "entries">): number {
  return entries.reduce((latest, { mtimeMs, type }) => (type === "directory" ? latest : Math.max(latest, mtimeMs)), 0);
}

function newest(pending: readonly { readonly candidate: Candidate; readonly why: string }[]): string | undefined {
  const last = [...pending].sort((a, b) => lastWrite(b.candidate) - lastWrite(a.candidate))[0];
  return last && `${last.candidate.path || "the directory"}: ${last.why}`;
}
