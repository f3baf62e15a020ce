import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Deadline } from "../core/index.ts";
import { FakeClock } from "../testing/index.ts";
import { divideGrace, StopTimes } from "./stop-budget.ts";

describe("the grace is divided", () => {
  test.each([
    ["nothing to upload", 15_000, 0, 13_000],
    ["an upload of four seconds", 15_000, 4_000, 9_000],
    ["an upload that would not leave half the grace", 15_000, 60_000, 7_500],
    ["a longer grace", 105_000, 20_000, 83_000],
  ])("%s", (_, graceMs, flushMs, killMs) => {
    expect(divideGrace(graceMs, flushMs).killMs).toBe(killMs);
  });

  test("in order, and out one second before the deadline, whatever is predicted", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600_000 }), fc.integer({ min: 0, max: 10_000_000 }), (graceMs, flushMs) => {
        const { killMs, shipMs, lastCallMs, overdueMs } = divideGrace(graceMs, flushMs);
        expect([killMs, shipMs, lastCallMs, overdueMs]).toEqual(
          [killMs, shipMs, lastCallMs, overdueMs].toSorted((a, b) => a - b),
        );
        expect(killMs).toBeGreaterThanOrEqual(0);
        expect(overdueMs).toBeLessThanOrEqual(graceMs >= 2500 ? graceMs - 1000 : graceMs * 0.6);
        expect(killMs).toBeGreaterThanOrEqual(graceMs >= 4000 ? graceMs / 2 : 0);
      }),
    );
  });
});

test("the times run down with the clock", async () => {
  const clock = new FakeClock();
  const times = new StopTimes(Deadline.in(15_000, clock));
  expect(times.untilKillMs(0)).toBe(13_000);
  await clock.advance(10_000);
  expect(times.untilKillMs(0)).toBe(3_000);
  expect(times.untilKillMs(5_000)).toBe(0);
  expect(times.shipDeadline.remainingMs()).toBe(3_750);
  await clock.advance(10_000);
  expect([times.untilKillMs(0), times.untilLastCallMs(), times.untilOverdueMs()]).toEqual([0, 0, 0]);
});
