import type { StdioOptions } from "node:child_process";
import type { CheckpointSession, Resume } from "../checkpoint/index.ts";
import type { Clock, Deadline, Emitter } from "../core/index.ts";
import type { Notice, NoticeSource } from "../notice/index.ts";
import type { ChildEnd, StopScope } from "./child.ts";
import type { AttemptTime, JournalEvent, Verdict } from "./journal.ts";
import type { StepsSeen } from "./step-meter.ts";
import type { StateChange } from "./stop-machine.ts";
import type { StopCause } from "./verdict.ts";

/** What to supervise, and how. */
export interface SuperviseOptions {
  /** The program and its arguments; one that holds `{resume}` is filled in or dropped. */
  readonly command: readonly string[];
  /** The checkpoint side of this start. */
  readonly session: CheckpointSession;
  /** The run's name, as the child is told. */
  readonly run: string;
  /** Which part of the run this is, as the child is told: `i/n`, or `restore-only`. */
  readonly role?: string;
  /** Absolute path of the checkpoint directory. */
  readonly dir: string;
  /** The child's working directory. @default this process's */
  readonly cwd?: string;
  /** What the child's environment is built on. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds from an eviction notice to the end. @default 15_000 */
  readonly graceMs?: number;
  /** Sent to the child at a notice. @default "SIGTERM" */
  readonly stopSignal?: NodeJS.Signals;
  /** Who gets the stop signal. @default "main" */
  readonly stopScope?: StopScope;
  /** Exit code after an eviction. @default 75 */
  readonly exitOnEviction?: number;
  /** A file whose presence after the child's end says that the work is finished, even after a notice. */
  readonly finishedWhen?: string;
  /** Where notices come from. @default signals to this process */
  readonly notices?: readonly NoticeSource[];
  /** The child is asked to save at least this long before a known end. @default 60_000 */
  readonly minLeadMs?: number;
  /** Milliseconds a failing child's leftover processes have between stop signal and SIGKILL when there was no notice. @default 5_000 */
  readonly leftoverMs?: number;
  /** Milliseconds for shipping what a child that failed by itself had saved. @default 600_000 */
  readonly failureFlushMs?: number;
  /** Milliseconds from being overtaken until this start is out; nothing it saves can be committed any more. @default 4_000 */
  readonly overtakenGraceMs?: number;
  /** @default "inherit" */
  readonly stdio?: StdioOptions;
  /** @default systemClock */
  readonly clock?: Clock;
  /**
   * Called from the moment the run was taken over, one event after the other, and awaited at the end as far as time allows: the last event is
   * `exit`, and `deadline` (if there is one) says by when it must be written. A rejection becomes a warning.
   */
  readonly onJournal?: (event: SuperviseJournalEvent, deadline: Deadline | undefined) => Promise<void> | void;
  /** Called when everything hangs and the process must end now. @default process.exit */
  readonly onOverdue?: (exitCode: number) => void;
}

/** What a journal may want to keep: its own events, the start without what only the caller knows. */
export type SuperviseJournalEvent =
  | Exclude<JournalEvent, { event: "start" }>
  | {
      readonly event: "start";
      readonly epoch: number;
      readonly attempt: number;
      readonly resumedStep: number | undefined;
      readonly restoreMs: number;
    };

/** How a start ended. */
export interface SuperviseResult {
  readonly exitCode: number;
  readonly verdict: Verdict;
  readonly childCode: number | null;
  readonly childSignal: NodeJS.Signals | null;
  /** Whether the child, or something it left behind, had to be killed. */
  readonly forced: boolean;
  readonly attempt: number | undefined;
  /** What stopped it; undefined when the child ended by itself. */
  readonly cause: StopCause | undefined;
  readonly noticeReason: string | undefined;
  readonly noticeToExitMs: number | undefined;
  readonly resumeStep: number | undefined;
  /** Newest committed step, as far as is known. */
  readonly committedStep: number | undefined;
  /** Newest complete local step that was not committed. */
  readonly lostStep: number | undefined;
  readonly steps: StepsSeen;
  /** Where its time went, as the journal keeps it. */
  readonly time: AttemptTime;
}

/** What a supervised start tells while it runs. */
export interface SuperviseEvents {
  "supervisor:state-changed": StateChange;
  "supervisor:started": { readonly pid: number; readonly attempt: number; readonly resume: Resume | undefined };
  "supervisor:notice": {
    readonly notice: Notice;
    /** `repeat`: it changed nothing; `shortened`: it brought the deadline nearer; `forced`: the child is not waited for. */
    readonly effect: "stopping" | "shortened" | "forced" | "repeat" | "planned";
  };
  "supervisor:signal-sent": { readonly signal: NodeJS.Signals; readonly processes: number };
  "supervisor:save-requested": { readonly reason: "interval" | "ends-at"; readonly clients: number };
  "supervisor:step": { readonly step: number };
  "supervisor:child-ended": ChildEnd & { readonly forced: boolean };
  "supervisor:leftovers": { readonly found: number; readonly killed: number };
  "supervisor:warning": { readonly message: string; readonly hint?: string; readonly error?: unknown };
}

/** A supervised start under way. */
export interface Supervision extends AsyncDisposable {
  /** Settles when it is over; rejects when it could not begin or a success could not be recorded. Never later than the deadline allows. */
  readonly promise: Promise<SuperviseResult>;
  readonly events: Emitter<SuperviseEvents>;
  /** Stops as if an eviction notice had come; may be called again, all callers see the same outcome. */
  stop(reason?: string): Promise<SuperviseResult>;
  /** Kills the child now; what is complete is still committed. */
  kill(): Promise<SuperviseResult>;
}
