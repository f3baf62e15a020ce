import { describe, expect, test } from "vitest";
import { FakeClock } from "../testing/index.ts";
import { PlannedEnd } from "./planned-end.ts";

function setUp(inMs: number, minLeadMs?: number) {
  const clock = new FakeClock();
  const planned = new PlannedEnd({ clock, graceMs: 15_000, minLeadMs });
  planned.set(clock.now() + inMs);
  return { clock, planned };
}

describe("a planned end", () => {
  test("asks for nothing while none is known", () => {
    const planned = new PlannedEnd({ clock: new FakeClock(), graceMs: 15_000 });
    expect(planned.next(true, 0, 0)).toBe("nothing");
  });

  test("asks once for a save a minute ahead, and stops when that save is committed", async () => {
    const { clock, planned } = setUp(100_000);
    expect(planned.next(true, 0, 0)).toBe("nothing");
    planned.saved(3);
    await clock.advance(41_000);
    expect(planned.next(true, 0, 0)).toBe("ask-to-save");
    expect(planned.next(true, 0, 0)).toBe("nothing");
    planned.committed(3);
    expect(planned.next(true, 0, 0)).toBe("nothing");
    planned.saved(4);
    planned.committed(3);
    expect(planned.next(true, 0, 0)).toBe("nothing");
    planned.committed(4);
    expect(planned.next(true, 0, 0)).toBe("stop");
    expect(planned.remainingMs).toBe(59_000);
  });

  test("asks earlier when a save and its upload take longer", () => {
    const { planned } = setUp(200_000);
    expect(planned.next(true, 30_000, 60_000)).toBe("nothing");
    expect(planned.next(true, 30_000, 63_000)).toBe("ask-to-save");
  });

  test("stops a grace before the end when nobody listens or nothing is committed", async () => {
    const { clock, planned } = setUp(100_000);
    await clock.advance(84_000);
    expect(planned.next(false, 0, 0)).toBe("nothing");
    await clock.advance(1_000);
    expect(planned.next(false, 0, 0)).toBe("stop");
  });

  test("that is past gives a grace period", async () => {
    const { clock, planned } = setUp(1_000);
    await clock.advance(5_000);
    expect(planned.next(true, 0, 0)).toBe("stop");
    expect(planned.remainingMs).toBe(15_000);
  });

  test("may be moved", () => {
    const { clock, planned } = setUp(20_000);
    planned.set(clock.now() + 1_000_000);
    expect(planned.next(true, 0, 0)).toBe("nothing");
  });
});
