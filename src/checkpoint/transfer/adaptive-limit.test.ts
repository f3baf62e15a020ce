import { describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/index.ts";
import { AdaptiveLimit } from "./adaptive-limit.ts";

const MB = 1e6;

/** Works through `jobs` jobs of 8 MB; `msFor` says how long one takes at a limit. */
async function work(
  limit: AdaptiveLimit,
  clock: FakeClock,
  jobs: number,
  msFor: (limit: number) => number,
): Promise<void> {
  for (let done = 0; done < jobs; done += 1) {
    const ms = msFor(limit.value);
    // With `limit` jobs side by side one is done every ms / limit.
    await clock.advance(ms / limit.value);
    limit.finished(8 * MB, ms, limit.value - 1);
  }
}

describe("the number of chunks under way", () => {
  it("grows while the rate grows with it", async () => {
    const clock = new FakeClock();
    const limit = new AdaptiveLimit({ clock, start: 4, most: 16 });
    await work(limit, clock, 400, () => 200);
    expect(limit.value).toBe(16);
  });

  it("stays near what a narrow link needs", async () => {
    const clock = new FakeClock();
    const limit = new AdaptiveLimit({ clock, start: 4, most: 64 });
    // 6 at a time fill the link; more only wait longer.
    await work(limit, clock, 2000, (value) => (value <= 6 ? 100 : (100 * value) / 6));
    expect(limit.value).toBeGreaterThanOrEqual(5);
    expect(limit.value).toBeLessThanOrEqual(12);
  });

  it("is halved by a refusal, once for all that the same load caused", async () => {
    const clock = new FakeClock();
    const limit = new AdaptiveLimit({ clock, start: 16, most: 16 });
    for (let i = 0; i < 10; i += 1) limit.refused();
    expect(limit.value).toBe(8);
    await clock.advance(1000);
    limit.refused();
    expect(limit.value).toBe(4);
    for (let i = 0; i < 5; i += 1) {
      await clock.advance(1000);
      limit.refused();
    }
    expect(limit.value).toBe(1);
  });

  it("comes back when the refusals are over", async () => {
    const clock = new FakeClock();
    const limit = new AdaptiveLimit({ clock, start: 8, most: 8 });
    for (let i = 0; i < 4; i += 1) {
      limit.refused();
      await clock.advance(1000);
    }
    expect(limit.value).toBe(1);
    await work(limit, clock, 300, () => 100);
    expect(limit.value).toBe(8);
  });

  it("goes down on a link so slow that company only delays each chunk", async () => {
    const clock = new FakeClock();
    const limit = new AdaptiveLimit({ clock, start: 8, most: 8 });
    // 1 MB/s in all: 8 s for one chunk alone, 64 s for each of eight.
    await work(limit, clock, 40, (value) => 8000 * value);
    expect(limit.value).toBe(1);
  });

  it("learns nothing from the last few jobs of a request", async () => {
    const clock = new FakeClock();
    const limit = new AdaptiveLimit({ clock, start: 4, most: 16 });
    for (let left = 3; left >= 0; left -= 1) {
      await clock.advance(100);
      limit.finished(8 * MB, 100, left === 3 ? 3 : left);
    }
    expect(limit.value).toBe(4);
  });
});
