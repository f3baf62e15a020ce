import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evictionRate, optimalInterval, saveInterval } from "./interval.ts";

const hour = 3_600_000;

describe("the exact optimum", () => {
  // Published cases (Daly 2006) and derived ones; minutes, then hours.
  test.each([
    ["one eviction a day", 5, 1 / 1440, 116.69],
    ["one in six hours", 5, 1 / 360, 56.714],
    ["one in a quarter of an hour", 5, 1 / 15, 9.1665],
    ["independent gang of 16", 1 / 60, 0.32, 0.311734],
    ["gang of 16 with common shocks", 1 / 60, 0.05, 0.805423],
  ])("%s", (_, cost, rate, expected) => {
    expect(optimalInterval(cost, rate)).toBeCloseTo(expected, expected > 1 ? 3 : 6);
  });

  test("fulfils its defining equation and stays below Young's value, over twelve orders of magnitude", () => {
    fc.assert(
      fc.property(fc.double({ min: -9, max: 2.5, noNaN: true }), (exponent) => {
        const a = 10 ** exponent;
        const y = optimalInterval(a, 1);
        expect(y).toBeLessThanOrEqual(Math.min(1, Math.sqrt(2 * a)) * (1 + 1e-12));
        expect(Math.abs(y + Math.expm1(-(y + a)))).toBeLessThan(1e-12);
        expect(y).toBeGreaterThan(0);
      }),
    );
  });

  test("saves that cost nothing may come all the time", () => {
    expect(optimalInterval(0, 1)).toBe(0);
  });
});

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
