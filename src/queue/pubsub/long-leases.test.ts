import { describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/index.ts";
import { LongLeases } from "./long-leases.ts";

function setUp() {
  const clock = new FakeClock();
  const extended: string[][] = [];
  const leases = new LongLeases(clock, async (receipts) => {
    extended.push([...receipts]);
  });
  return { clock, extended, leases };
}

const minutes = (n: number) => n * 60_000;

describe("leases longer than Pub/Sub allows", () => {
  it("are extended every five minutes until they end", async () => {
    const { clock, extended, leases } = setUp();
    leases.note(["a", "b"], minutes(22));
    await clock.advance(minutes(6));
    expect(extended).toEqual([["a", "b"]]);
    leases.forget(["b"]);
    await clock.advance(minutes(30));
    expect(extended.slice(1)).toEqual([["a"], ["a"], ["a"]]);
    leases.close();
  });

  it("need no care when they are short, nor when they were settled", async () => {
    const { clock, extended, leases } = setUp();
    leases.note(["a"], minutes(10));
    leases.note(["b"], minutes(11));
    leases.forget(["b"]);
    await clock.advance(minutes(60));
    expect(extended).toEqual([]);
  });

  it("go on when an extension failed, and begin again after a pause", async () => {
    const clock = new FakeClock();
    let calls = 0;
    const leases = new LongLeases(clock, async () => {
      calls += 1;
      throw new Error("away");
    });
    leases.note(["a"], minutes(16));
    await clock.advance(minutes(20));
    expect(calls).toBe(3);
    leases.note(["b"], minutes(12));
    await clock.advance(minutes(6));
    expect(calls).toBe(4);
    leases.close();
    await clock.advance(minutes(60));
    expect(calls).toBe(4);
  });
});
