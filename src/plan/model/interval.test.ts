import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bestInterval } from "./interval.ts";

describe("the exact optimum", () => {
  // Published cases (Daly 2006) and derived ones; minutes, then hours.
  test.each([
    ["one eviction a day", 5, 1 / 1440, 116.69],
    ["one in six hours", 5, 1 / 360, 56.714],
    ["one in a quarter of an hour", 5, 1 / 15, 9.1665],
    ["independent gang of 16", 1 / 60, 0.32, 0.311734],
    ["gang of 16 with common shocks", 1 / 60, 0.05, 0.805423],
  ])("%s", (_, cost, rate, expected) => {
    expect(bestInterval(cost, rate)).toBeCloseTo(expected, expected > 1 ? 3 : 6);
  });

  test("fulfils its defining equation and stays below Young's value, over twelve orders of magnitude", () => {
    fc.assert(
      fc.property(fc.double({ min: -9, max: 2.5, noNaN: true }), (exponent) => {
        const a = 10 ** exponent;
        const y = bestInterval(a, 1);
        expect(y).toBeLessThanOrEqual(Math.min(1, Math.sqrt(2 * a)) * (1 + 1e-12));
        expect(Math.abs(y + Math.expm1(-(y + a)))).toBeLessThan(1e-12);
        expect(y).toBeGreaterThan(0);
      }),
    );
  });

  test("saves that cost nothing may come all the time", () => {
    expect(bestInterval(0, 1)).toBe(0);
  });
});
