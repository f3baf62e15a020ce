import { expect, test } from "vitest";
import { FakeClock } from "./fake-clock.ts";

test("sleepers wake in order, each before the next, and only when their time has come", async () => {
  const clock = new FakeClock(1000);
  const woken: string[] = [];
  const sleeper = async (name: string, ms: number) => {
    await clock.sleep(ms);
    woken.push(`${name}@${clock.monotonic()}`);
  };
  const all = [sleeper("late", 30), sleeper("early", 10), sleeper("never", 100)];
  await clock.advance(50);
  expect(woken).toEqual(["early@10", "late@30"]);
  expect([clock.now(), clock.monotonic(), clock.sleeping]).toEqual([1050, 50, 1]);
  await clock.advance(50);
  await Promise.all(all);
});

test("an aborted sleep ends at once and leaves nothing behind", async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const sleep = clock.sleep(1000, abort.signal);
  abort.abort();
  await sleep;
  expect(clock.sleeping).toBe(0);
});

test("moving the wall clock does not move the other one", () => {
  const clock = new FakeClock(5);
  clock.setWallClock(500);
  expect([clock.now(), clock.monotonic()]).toEqual([500, 0]);
});
