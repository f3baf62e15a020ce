import type { Deadline, Emitter } from "../core/index.ts";
import type { WriterState } from "./detect/types.ts";

/** What a start found and did before the child may run. */
export type Beginning =
  /** Every shard had finished before: nothing to do. */
  | { readonly kind: "already-finished" }
  | {
      readonly kind: "start";
      readonly epoch: number;
      /** 1 for the first start of this run (shard). */
      readonly attempt: number;
      /** Set when there is a checkpoint to resume from, restored or already in the directory. */
      readonly resume: Resume | undefined;
      /** Milliseconds spent on reading the log, fetching and verifying. */
      readonly restoreMs: number;
      /** Milliseconds a step took in the attempt before, judged by its commits; undefined when they do not tell. */
      readonly stepMs?: number | undefined;
    };

export interface Resume {
  readonly step: number;
  /** Absolute path of the checkpoint's folder or file. */
  readonly path: string;
}

/** What happens in the background; faults are events, never crashes. */
export interface SessionEvents {
  /** This start can never commit again. `superseded`: exit 77; `gang-ended`: exit 75. */
  "session:ended": { readonly reason: "superseded" | "gang-ended"; readonly message: string };
  /** A checkpoint was found complete. */
  "session:saved": { readonly step: number; readonly path: string; readonly bytes: number };
  "session:committed": {
    readonly step: number;
    readonly bytes: number;
    readonly sentBytes: number;
    /** From the last write to its files until its commit was durable. */
    readonly lagMs: number;
    readonly shipMs: number;
  };
  /** A complete checkpoint that will not be committed. */
  "session:skipped": { readonly step: number; readonly why: string };
  "session:restored": {
    readonly step: number;
    readonly bytes: number;
    readonly fetchedBytes: number;
    readonly ms: number;
  };
  /** This shard is ready; `missing` of the others are not. */
  "session:waiting": { readonly missing: number; readonly of: number };
  "session:damaged": { readonly step: number; readonly why: string };
  "session:progress": {
    readonly what: "restoring" | "shipping" | "verifying";
    readonly step: number;
    readonly bytes: number;
    readonly totalBytes: number;
  };
  "session:warning": { readonly message: string; readonly hint?: string; readonly error?: unknown };
}

export interface FinishOptions {
  /** Ship only what lands by then; without one, everything is shipped. */
  readonly deadline?: Deadline | undefined;
  /** The program said that its work is finished, so it did not leave in the middle of anything. @default false */
  readonly saidFinished?: boolean | undefined;
  readonly writer: WriterState;
}

export interface FinishReport {
  /** Newest committed step of the run, if any. */
  readonly committedStep: number | undefined;
  /** Newest complete local step that was not committed, if any. */
  readonly lostStep: number | undefined;
}

/** The checkpoint side of one start of a run: what the supervisor drives. */
export interface CheckpointSession {
  readonly events: Emitter<SessionEvents>;
  /**
   * Takes the run over, restores what is to be resumed and, with several shards, waits for the others.
   * Rejects with `OUTLAST_NO_GOOD_CHECKPOINT`, `OUTLAST_LOG_LOST`, `OUTLAST_SUPERSEDED` … (see exit codes).
   */
  begin(signal?: AbortSignal): Promise<Beginning>;
  /** Starts looking for complete checkpoints and shipping them while the child runs. */
  watch(pid: number): void;
  /** The child says that `path` is complete for `step`: look at once. */
  childSaved(path: string | undefined, step: number | undefined): void;
  /**
   * The program is about to be told to stop: what it is writing just now cannot be trusted to be whole if it leaves. Resolves when that has been
   * looked at; the stop signal should wait for it, but not for long.
   */
  noticed(): Promise<void>;
  /** Bytes not yet committed divided by the measured rate, in milliseconds; 0 when nothing is pending. */
  predictedFlushMs(): number;
  /** Seconds between saves that lose least, by measured cost and eviction rate. Undefined until it can be computed. */
  saveIntervalMs(): number | undefined;
  /** Ships what is complete and fits, then stops shipping. Safe to call when superseded: it then does nothing. */
  finish(options: FinishOptions): Promise<FinishReport>;
  /** The child's work is finished: records it and, with several shards, waits until all are. */
  complete(signal?: AbortSignal): Promise<"all-done" | "gang-ended" | "superseded">;
  /** Ends all background work. */
  close(): Promise<void>;
}
