import type { AttemptTime, JournalRecord, Verdict } from "./journal.ts";
import type { JournalEntry } from "./read-journal.ts";

/** A commit as the log has it. */
export interface CommitSeen {
  readonly position: number;
  /** The start that committed it. */
  readonly epoch: number;
  readonly step: number;
  readonly bytes: number;
  /** When it was committed, and when its last file was written: both by its writer's clock. */
  readonly at: string;
  readonly savedAt: string;
}

/** One start of one shard, from its beginning to its end. */
export interface AttemptStatus {
  readonly epoch: number;
  readonly attempt: number;
  readonly shard: number;
  readonly host: string;
  readonly startedAt: string;
  /** Exit, or the last sign of life when no exit was recorded. */
  readonly lastSeenAt: string;
  /** `vanished`: a later start came and no exit was recorded. `open`: no exit was recorded and nothing came after. */
  readonly end: Verdict | "vanished" | "open";
  readonly exitCode: number | undefined;
  readonly noticeSource: string | undefined;
  readonly noticeToExitMs: number | undefined;
  readonly forced: boolean;
  readonly resumedStep: number | undefined;
  /** Highest step known to have been reached: told by the child, or committed. */
  readonly lastStep: number | undefined;
  readonly committedSteps: readonly number[];
  readonly time: AttemptTime;
  /** What a later start had to do again; undefined while there is none. */
  readonly lost: { readonly steps: number; readonly ms: number } | undefined;
}

/** What is known about a run. */
export interface RunStatus {
  readonly attempts: readonly AttemptStatus[];
  /** Attempts that ended by a notice or vanished. */
  readonly evictions: number;
  readonly commits: number;
  readonly newest: { readonly step: number; readonly at: string; readonly bytes: number } | undefined;
  /** From a checkpoint's last write to its commit. */
  readonly lagMs: { readonly median: number; readonly max: number } | undefined;
  readonly lostSteps: number;
  /** All attempts together; the parts add up to `totalMs`. */
  readonly time: {
    readonly productiveMs: number;
    readonly redoneMs: number;
    readonly restoringMs: number;
    readonly stoppingMs: number;
    readonly totalMs: number;
  };
}

/**
 * Tells a run's story from its journal and the commits of its log. Lengths of time are only ever taken between two readings
 * of one machine's clock.
 */
export function summarizeRun(entries: readonly JournalEntry[], commits: readonly CommitSeen[]): RunStatus {
  const drafts = [...groupByEpoch(entries)].flatMap(([epoch, records]) => draftAttempt(epoch, records, commits) ?? []);
  const attempts = drafts.map((draft) => {
    const next = drafts.find((other) => other.shard === draft.shard && other.epoch > draft.epoch);
    return next ? closeAttempt(draft, next, commits) : draft;
  });
  const newest = commits.reduce<CommitSeen | undefined>((a, b) => (a && a.position > b.position ? a : b), undefined);
  const sum = (part: (attempt: AttemptStatus) => number) => attempts.reduce((total, one) => total + part(one), 0);
  const runningMs = sum(({ time }) => time.runningMs);
  const redoneMs = sum(({ lost }) => lost?.ms ?? 0);
  const restoringMs = sum(({ time }) => time.restoringMs);
  const stoppingMs = sum(({ time }) => time.stoppingMs);
  return {
    attempts,
    evictions: attempts.filter(({ end }) => end === "evicted" || end === "gang-ended" || end === "vanished").length,
    commits: commits.length,
    newest: newest && { step: newest.step, at: newest.at, bytes: newest.bytes },
    lagMs: lagOf(commits),
    lostSteps: sum(({ lost }) => lost?.steps ?? 0),
    time: {
      productiveMs: runningMs - redoneMs,
      redoneMs,
      restoringMs,
      stoppingMs,
      totalMs: runningMs + restoringMs + stoppingMs,
    },
  };
}

function groupByEpoch(entries: readonly JournalEntry[]): Map<number, JournalRecord[]> {
  const groups = new Map<number, JournalRecord[]>();
  for (const { epoch, record } of entries) {
    const group = groups.get(epoch);
    if (group) group.push(record);
    else groups.set(epoch, [record]);
  }
  return groups;
}

function draftAttempt(
  epoch: number,
  records: readonly JournalRecord[],
  commits: readonly CommitSeen[],
): AttemptStatus | undefined {
  const start = records.find((record) => record.event === "start");
  // Its first record was never written: the store did not answer. Its commits still count; its time is unknown.
  if (!start) return undefined;
  const exit = records.find((record) => record.event === "exit");
  const notice = records.find((record) => record.event === "notice");
  const own = commits.filter((commit) => commit.epoch === epoch);
  const signs = [...records.map(({ at }) => at), ...own.map(({ at }) => at)].map(Date.parse);
  const lastSeenMs = exit ? Date.parse(exit.at) : Math.max(...signs);
  return {
    epoch,
    attempt: start.attempt,
    shard: start.shard,
    host: start.host,
    startedAt: start.at,
    lastSeenAt: new Date(lastSeenMs).toISOString(),
    end: exit?.verdict ?? "open",
    exitCode: exit?.code,
    noticeSource: notice?.source,
    noticeToExitMs: exit?.noticeToExitMs,
    forced: exit?.forced ?? false,
    resumedStep: start.resumedStep,
    lastStep: highest([
      ...records.map((record) => ("lastStep" in record ? record.lastStep : undefined)),
      ...records.map((record) => (record.event === "first-step" ? record.step : undefined)),
      ...own.map(({ step }) => step),
    ]),
    committedSteps: own.map(({ step }) => step),
    time: exit?.time ?? inferTime(start.at, start.restoreMs, notice?.at, lastSeenMs),
    lost: undefined,
  };
}

/** Times of an attempt that left no exit record: up to its last sign of life. The start is written when restoring is over. */
function inferTime(startedAt: string, restoringMs: number, noticeAt: string | undefined, endMs: number): AttemptTime {
  const startMs = Date.parse(startedAt);
  const noticeMs = noticeAt === undefined ? endMs : Math.min(endMs, Date.parse(noticeAt));
  return {
    restoringMs,
    runningMs: Math.max(0, noticeMs - startMs),
    stoppingMs: Math.max(0, endMs - noticeMs),
  };
}

function closeAttempt(draft: AttemptStatus, next: AttemptStatus, commits: readonly CommitSeen[]): AttemptStatus {
  const resumed = next.resumedStep ?? 0;
  // Written by this attempt itself: then what was done after that save is lost; otherwise all that this attempt did.
  const base = commits.findLast((commit) => commit.epoch === draft.epoch && commit.step === next.resumedStep);
  const savedAfterMs = base ? Date.parse(base.savedAt) - Date.parse(draft.startedAt) : 0;
  const runningMs = draft.time.runningMs;
  const isDone = draft.end === "finished" || (draft.lastStep !== undefined && draft.lastStep <= resumed);
  return {
    ...draft,
    end: draft.end === "open" ? "vanished" : draft.end,
    lost: {
      steps: draft.lastStep === undefined ? 0 : Math.max(0, draft.lastStep - Math.max(resumed, 0)),
      ms: isDone ? 0 : Math.max(0, runningMs - Math.max(0, Math.min(savedAfterMs, runningMs))),
    },
  };
}

function lagOf(commits: readonly CommitSeen[]): RunStatus["lagMs"] {
  const lags = commits
    .map(({ at, savedAt }) => Math.max(0, Date.parse(at) - Date.parse(savedAt)))
    .sort((a, b) => a - b);
  const middle = lags[Math.floor(lags.length / 2)];
  const max = lags.at(-1);
  return middle === undefined || max === undefined ? undefined : { median: middle, max };
}

function highest(steps: readonly (number | undefined)[]): number | undefined {
  const known = steps.filter((step) => step !== undefined && step !== null);
  return known.length > 0 ? Math.max(...known) : undefined;
}
