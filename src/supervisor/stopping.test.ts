import { describe, expect, test } from "vitest";
import { FakeClock } from "../testing/index.ts";
import { Stopping } from "./stopping.ts";

function setUp() {
  const clock = new FakeClock();
  const seen: string[] = [];
  const stopping = new Stopping(clock, () => seen.push(`overdue@${clock.monotonic()}`));
  void stopping.lastCall.then(() => seen.push(`last call@${clock.monotonic()}`));
  return { clock, seen, stopping };
}

describe("a stop", () => {
  test("has its last call and its watchdog one second before the deadline", async () => {
    const { clock, seen, stopping } = setUp();
    expect(stopping.request("eviction", 15_000)).toBe("first");
    await clock.advance(20_000);
    expect(seen).toEqual(["last call@13850", "overdue@13950"]);
  });

  test("keeps its first cause and deadline when asked again", async () => {
    const { clock, seen, stopping } = setUp();
    stopping.request("eviction", 15_000);
    await clock.advance(5_000);
    expect(stopping.request("superseded", 15_000)).toBe("nothing");
    expect(stopping.cause).toBe("eviction");
    expect(stopping.noticedAtMs).toBe(0);
    await clock.advance(20_000);
    expect(seen[0]).toBe("last call@13850");
  });

  test("moves to an earlier deadline", async () => {
    const { clock, seen, stopping } = setUp();
    stopping.request("eviction", 100_000);
    expect(stopping.request("eviction", 15_000)).toBe("shortened");
    await clock.advance(14_000);
    expect(seen).toEqual(["last call@13850", "overdue@13950"]);
  });

  test("that is over rings no more, and leaves no timer behind", async () => {
    const { clock, seen, stopping } = setUp();
    stopping.request("eviction", 15_000);
    stopping.end();
    expect(clock.sleeping).toBe(0);
    await clock.advance(20_000);
    expect(seen).toEqual([]);
  });
});
