import { afterAll, describe, expect, test } from "vitest";
import type { DriverRequest } from "../fixtures/supervise-driver.ts";
import { endDrivers, startDriver, trainer } from "../support/driver.ts";

afterAll(endDrivers);

interface Row extends Omit<DriverRequest, "report" | "options"> {
  readonly name: string;
  readonly graceMs: number;
  /** When the child must have been killed at the earliest, in milliseconds after the notice; undefined when it must not be killed. */
  readonly killedAfterMs?: number;
}

const rows: readonly Row[] = [
  { name: "a child that ignores SIGTERM", command: trainer("--ignore"), graceMs: 4000, killedAfterMs: 2000 },
  {
    name: "a child that ignores SIGTERM and forks",
    command: trainer("--ignore", "--fork", "--daemon"),
    graceMs: 3000,
    killedAfterMs: 1500,
  },
  { name: "a child that flushes slowly but in time", command: trainer("--flush=1200"), graceMs: 4000 },
  {
    name: "an upload that needs longer than half the grace: the child still gets that half",
    command: trainer("--ignore"),
    session: { flushMs: 60_000 },
    graceMs: 3000,
    killedAfterMs: 1500,
  },
  { name: "a finish that never ends", command: trainer(), session: { finishNever: true }, graceMs: 3000 },
  { name: "a close that never ends", command: trainer(), session: { closeNever: true }, graceMs: 3000 },
  { name: "a journal that never ends", command: trainer(), journalNever: true, graceMs: 3000 },
  {
    name: "everything hanging at once",
    command: trainer("--ignore", "--fork"),
    session: { finishNever: true, closeNever: true },
    journalNever: true,
    graceMs: 3000,
    killedAfterMs: 1500,
  },
  {
    name: "a session that keeps completing for ever",
    command: trainer("--socket", "--finished"),
    session: { completeNever: true },
    graceMs: 3000,
  },
  { name: "a grace too short for all reserves", command: trainer("--ignore"), graceMs: 1000, killedAfterMs: 400 },
];

describe("out before the deadline, always", () => {
  for (const { name, graceMs, killedAfterMs, ...request } of rows) {
    test.concurrent(`${name}`, async () => {
      const driver = startDriver({ ...request, options: { graceMs } });
      await driver.said(request.command.includes("--socket") ? '"hello"' : "ready");
      const sentAt = driver.kill("SIGTERM");
      const end = await driver.ended;
      expect(end.code).toBe(75);
      const reserveMs = graceMs >= 2500 ? 1000 : 0;
      const lateMs = end.report.endedAt - sentAt - (graceMs - reserveMs);
      expect(lateMs).toBeLessThanOrEqual(2 * end.report.lagMs);
      expect(end.atMs - sentAt).toBeLessThanOrEqual(graceMs + 2 * end.report.lagMs);
      const childEnded = end.report.events.find((event) => event.name === "supervisor:child-ended");
      expect(childEnded?.["forced"]).toBe(killedAfterMs !== undefined);
      expect((childEnded?.at ?? 0) - sentAt).toBeGreaterThanOrEqual(killedAfterMs ?? 0);
      // The watchdog is for what cannot be waited for at all; none of these needs it.
      expect(end.report.overdue).toBeUndefined();
    });
  }
});

describe("a notice while the run is being taken over", () => {
  test.concurrent("the restore is broken off and the program never started", async () => {
    const driver = startDriver({ command: trainer("--exit=0"), session: { beginMs: 60_000 }, announce: true });
    await driver.said("supervising");
    const sentAt = driver.kill("SIGTERM");
    const end = await driver.ended;
    expect(end.code).toBe(75);
    expect(end.report.endedAt - sentAt).toBeLessThan(1000 + 2 * end.report.lagMs);
    expect(end.report.calls).toEqual(["begin", "close"]);
  });

  test.concurrent("a restore that does not listen is left behind in time", async () => {
    const driver = startDriver({ command: trainer("--exit=0"), session: { beginNever: true }, announce: true });
    await driver.said("supervising");
    const sentAt = driver.kill("SIGTERM");
    const end = await driver.ended;
    expect(end.code).toBe(75);
    expect(end.report.endedAt - sentAt).toBeLessThanOrEqual(2000 + 2 * end.report.lagMs);
  });
});

test.concurrent("a notice while it turns out that the run was finished before changes nothing", async () => {
  const session = { begin: { kind: "already-finished" } as const, beginMs: 1500, beginDeaf: true };
  const driver = startDriver({ command: trainer("--exit=9"), session, announce: true });
  await driver.said("supervising");
  driver.kill("SIGTERM");
  const end = await driver.ended;
  expect(end.report.result).toMatchObject({ verdict: "finished", exitCode: 0 });
});

describe("a notice after the child's own end", () => {
  test.concurrent("bounds the shipping of a success, which then counts as evicted", async () => {
    const driver = startDriver({ command: trainer("--exit=0"), session: { finishNever: true } });
    await driver.said("ready");
    await new Promise((resolve) => setTimeout(resolve, 300));
    const sentAt = driver.kill("SIGTERM");
    const end = await driver.ended;
    expect(end.report.result).toMatchObject({ verdict: "evicted", exitCode: 75, childCode: 0 });
    expect(end.report.endedAt - sentAt).toBeLessThanOrEqual(2000 + 2 * end.report.lagMs);
  });

  test.concurrent("leaves a failure its own code", async () => {
    const driver = startDriver({ command: trainer("--exit=3"), session: { finishNever: true } });
    await driver.said("ready");
    await new Promise((resolve) => setTimeout(resolve, 300));
    driver.kill("SIGTERM");
    expect((await driver.ended).code).toBe(3);
  });

  test.concurrent("ends the wait for other shards", async () => {
    const driver = startDriver({ command: trainer("--exit=0"), session: { completeNever: true } });
    await driver.said("ready");
    await new Promise((resolve) => setTimeout(resolve, 300));
    const sentAt = driver.kill("SIGTERM");
    const end = await driver.ended;
    expect(end.code).toBe(75);
    expect(end.report.endedAt - sentAt).toBeLessThanOrEqual(2000 + 2 * end.report.lagMs);
  });
});
