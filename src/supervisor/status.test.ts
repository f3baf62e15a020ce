import { describe, expect, test } from "vitest";
import type { JournalRecord } from "./journal.ts";
import type { JournalEntry } from "./read-journal.ts";
import { type CommitSeen, summarizeRun } from "./status.ts";

const base = Date.UTC(2026, 7, 21, 12);
const at = (seconds: number) => new Date(base + seconds * 1000).toISOString();

function entry(epoch: number, k: number, seconds: number, record: object): JournalEntry {
  return { epoch, k, record: { format: 1, at: at(seconds), ...record } as JournalRecord };
}

function start(epoch: number, seconds: number, more: object = {}): JournalEntry {
  const fields = { attempt: epoch, host: "a", shard: 0, of: 1, restoreMs: 2000, command: ["x"], version: "1" };
  return entry(epoch, 1, seconds, { event: "start", ...fields, ...more });
}

function exit(epoch: number, seconds: number, more: object): JournalEntry {
  return entry(epoch, 9, seconds, { event: "exit", code: 75, verdict: "evicted", forced: false, ...more });
}

function commit(position: number, epoch: number, step: number, savedAt: number, lag = 1): CommitSeen {
  return { position, epoch, step, bytes: 10, at: at(savedAt + lag), savedAt: at(savedAt) };
}

describe("a run evicted with a notice", () => {
  const journal = [
    start(1, 0),
    entry(1, 2, 100, { event: "notice", source: "signal", graceMs: 15_000, lastStep: 100 }),
    exit(1, 105, {
      noticeToExitMs: 5000,
      lastStep: 101,
      committedStep: 90,
      time: { restoringMs: 2000, runningMs: 100_000, stoppingMs: 5000 },
    }),
    start(4, 200, { resumedStep: 90, attempt: 2 }),
    exit(4, 230, {
      verdict: "finished",
      code: 0,
      lastStep: 120,
      committedStep: 120,
      time: { restoringMs: 3000, runningMs: 30_000, stoppingMs: 0 },
    }),
  ];
  const commits = [commit(2, 1, 50, 50, 2), commit(3, 1, 90, 90, 4), commit(5, 4, 120, 229, 1)];
  const status = summarizeRun(journal, commits);

  test("tells each attempt", () => {
    expect(status.attempts).toMatchObject([
      {
        attempt: 1,
        end: "evicted",
        noticeSource: "signal",
        noticeToExitMs: 5000,
        lastStep: 101,
        committedSteps: [50, 90],
      },
      { attempt: 2, end: "finished", resumedStep: 90, lastStep: 120, committedSteps: [120], lost: undefined },
    ]);
  });

  test("counts what was lost since the checkpoint that came back", () => {
    expect(status.attempts[0]?.lost).toEqual({ steps: 11, ms: 10_000 });
    expect([status.evictions, status.lostSteps]).toEqual([1, 11]);
  });

  test("splits the time into parts that add up", () => {
    expect(status.time).toEqual({
      productiveMs: 120_000,
      redoneMs: 10_000,
      restoringMs: 5000,
      stoppingMs: 5000,
      totalMs: 140_000,
    });
    const { totalMs, ...parts } = status.time;
    expect(Object.values(parts).reduce((a, b) => a + b)).toBe(totalMs);
  });

  test("tells the newest commit and the lag behind the saves", () => {
    expect(status.newest).toEqual({ step: 120, at: at(230), bytes: 10 });
    expect(status.lagMs).toEqual({ median: 2000, max: 4000 });
  });
});

describe("a machine that vanished", () => {
  test("is inferred from the next start, with its last sign of life as the end", () => {
    const journal = [
      start(1, 0),
      entry(1, 2, 60, { event: "progress", lastStep: 55 }),
      start(3, 500, { resumedStep: 40, attempt: 2 }),
    ];
    const [first, second] = summarizeRun(journal, [commit(2, 1, 40, 40)]).attempts;
    expect(first).toMatchObject({ end: "vanished", lastSeenAt: at(60), lost: { steps: 15, ms: 20_000 } });
    expect(second).toMatchObject({ end: "open", lost: undefined });
  });

  test("loses everything it did when the next start resumes from before it", () => {
    const journal = [
      start(3, 0, { resumedStep: 40 }),
      entry(3, 2, 30, { event: "progress", lastStep: 70 }),
      start(4, 99, { resumedStep: 40 }),
    ];
    expect(summarizeRun(journal, [commit(2, 1, 40, -100)]).attempts[0]?.lost).toEqual({ steps: 30, ms: 30_000 });
  });

  test("loses time even where the child tells no steps", () => {
    const journal = [start(1, 0), entry(1, 2, 30, { event: "progress" }), start(2, 99)];
    expect(summarizeRun(journal, []).attempts[0]?.lost).toEqual({ steps: 0, ms: 30_000 });
  });
});

test("a later start of another shard does not end an attempt", () => {
  const journal = [start(1, 0, { shard: 0, of: 2 }), start(2, 1, { shard: 1, of: 2 })];
  expect(summarizeRun(journal, []).attempts.map(({ end }) => end)).toEqual(["open", "open"]);
});

test("a start after a finished one (again) takes nothing from it", () => {
  const time = { restoringMs: 0, runningMs: 50_000, stoppingMs: 0 };
  const journal = [start(1, 0), exit(1, 50, { verdict: "finished", code: 0, lastStep: 10, time }), start(2, 60)];
  const status = summarizeRun(journal, [commit(2, 1, 10, 49)]);
  expect(status.attempts[0]).toMatchObject({ end: "finished", lost: { ms: 0 } });
});

test("an empty journal is an empty story", () => {
  expect(summarizeRun([], [])).toMatchObject({ attempts: [], evictions: 0, newest: undefined, lagMs: undefined });
});

test("an attempt whose start was never written is left out, but its commits count", () => {
  const status = summarizeRun(
    [exit(1, 5, { time: { restoringMs: 0, runningMs: 1, stoppingMs: 0 } })],
    [commit(2, 1, 3, 1)],
  );
  expect([status.attempts.length, status.commits]).toEqual([0, 1]);
});
