import { describe, expect, it } from "vitest";
import { ShipRate } from "./ship-rate.ts";

const MiB = 1024 * 1024;

describe("how long a shipment will take", () => {
  it("goes by what was measured", () => {
    const rate = new ShipRate();
    rate.add(100 * MiB, 10_000);
    expect(rate.predictMs(50 * MiB)).toBeCloseTo(5200, -1);
  });

  it("sees a link that has become slow before the shipment is over", () => {
    const rate = new ShipRate();
    rate.add(1000 * MiB, 1000);
    rate.observe(16 * MiB, 484 * MiB, 10_000);
    // 16 MiB acknowledged and half of what may be under way, in 10 s.
    expect(rate.predictMs(480 * MiB)).toBeGreaterThan(90_000);
    rate.forget();
    expect(rate.predictMs(480 * MiB)).toBeLessThan(1000);
  });

  it("knows by time alone that nothing gets through", () => {
    const rate = new ShipRate();
    rate.observe(0, 8 * MiB, 60_000);
    expect(rate.predictMs(8 * MiB)).toBeGreaterThan(60_000);
  });

  it("does not mistake a limit for the link", () => {
    const rate = new ShipRate(5_000_000);
    rate.add(100_000_000, 20_500);
    rate.observe(10_000_000, 0, 2000);
    expect(rate.predictMs(100_000_000)).toBeLessThan(1500);
    rate.add(100_000_000, 100_000);
    expect(rate.predictMs(100_000_000)).toBeGreaterThan(90_000);
  });
});
