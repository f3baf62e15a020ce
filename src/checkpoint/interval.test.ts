import { describe, expect, test } from "vitest";
import { evictionRate, saveInterval } from "./interval.ts";

const hour = 3_600_000;

describe("the eviction rate", () => {
  test("is Jeffreys' mean where the prior has no weight", () => {
    expect(evictionRate(3, 40, 0)).toBeCloseTo(0.0875, 10);
  });

  test("before anything was seen is one in eight hours", () => {
    expect(evictionRate(0, 0)).toBeCloseTo(1 / (8 * hour), 15);
  });
});

describe("the save interval", () => {
  test("shortens with evictions and lengthens with quiet hours", () => {
    const calm = saveInterval({ saveCostMs: 10_000, evictions: 0, uptimeMs: 20 * hour });
    const fresh = saveInterval({ saveCostMs: 10_000, evictions: 0, uptimeMs: 0 });
    const stormy = saveInterval({ saveCostMs: 10_000, evictions: 10, uptimeMs: 5 * hour });
    expect(calm).toBeGreaterThan(fresh);
    expect(stormy).toBeLessThan(fresh);
  });

  test("stays within its bounds, and above the time an upload takes", () => {
    const inputs = { evictions: 0, uptimeMs: 0 };
    expect(saveInterval({ saveCostMs: 0, ...inputs })).toBe(10_000);
    expect(saveInterval({ saveCostMs: 10 * hour, ...inputs })).toBe(hour);
    expect(saveInterval({ saveCostMs: 1, uploadMs: 300_000, ...inputs })).toBe(300_000);
    expect(saveInterval({ saveCostMs: 1, uploadMs: 2 * hour, ...inputs })).toBe(2 * hour);
  });
});
