import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makePlan, type Plan, type PlanInputs, planPage, type UsableOption } from "../../src/plan/index.ts";
import { meanCost } from "../../src/plan/advise/sensitivity.ts";

const effort = { runs: 400, seed: 3 };

const base: PlanInputs = {
  name: "job",
  work: 38,
  nodes: 1,
  prices: { currency: "USD", onDemand: 29.39, spot: 16.97, flexStart: 16.16 },
  churn: { rate: 0.1, low: 0.05, high: 0.2 },
  shared: 0.9,
  save: 6 / 3600,
  upload: 75 / 3600,
  restart: 1 / 6,
  wait: 1 / 12,
  flexWait: 4,
  flushChance: 0,
  flushTime: 0,
  interval: undefined,
  stepSeconds: 1.2,
  deadline: undefined,
  confidence: 0.95,
  leaseCap: 168,
  transferPerSave: 0,
  assumptions: [],
};

const usableOf = (plan: Plan) => plan.options.filter((option): option is UsableOption => option.isUsable);

const anyInputs: fc.Arbitrary<PlanInputs> = fc
  .record({
    work: fc.double({ min: 0.1, max: 500, noNaN: true }),
    nodes: fc.integer({ min: 1, max: 64 }),
    onDemand: fc.double({ min: 0.1, max: 100, noNaN: true }),
    discount: fc.double({ min: 0.05, max: 0.9, noNaN: true }),
    flex: fc.option(fc.double({ min: 0, max: 0.6, noNaN: true }), { nil: undefined }),
    rate: fc.oneof(fc.constant(0), fc.double({ min: 1e-5, max: 1, noNaN: true })),
    shape: fc.option(fc.double({ min: 0.5, max: 2, noNaN: true }), { nil: undefined }),
    save: fc.double({ min: 1 / 3600, max: 0.2, noNaN: true }),
    upload: fc.oneof(fc.constant(0), fc.double({ min: 1e-4, max: 0.5, noNaN: true })),
    restart: fc.double({ min: 0, max: 0.5, noNaN: true }),
    flushChance: fc.double({ min: 0, max: 1, noNaN: true }),
    deadline: fc.option(fc.double({ min: 0.1, max: 1000, noNaN: true }), { nil: undefined }),
    interval: fc.option(fc.double({ min: 0.05, max: 10, noNaN: true }), { nil: undefined }),
  })
  .map(({ onDemand, discount, flex, rate, shape, ...rest }) => ({
    ...base,
    ...rest,
    prices: {
      currency: "USD",
      onDemand,
      spot: onDemand * (1 - discount),
      flexStart: flex === undefined ? undefined : onDemand * (1 - flex),
    },
    churn: { rate, low: rate / 2, high: rate * 2, shape },
  }));

describe("a plan", () => {
  it("has a ledger that sums to its billed and wall hours, to the last digit", () => {
    for (const { ledger: l, billed, finish } of usableOf(makePlan({ ...base, deadline: 60 }, effort))) {
      expect(l.work + l.stalls + l.rework + l.restarts + l.flushes).toBe(billed.mean);
      expect(billed.mean + l.waits).toBe(finish.mean);
    }
  });

  it("never shows a number that is none, whatever is asked", () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        const plan = makePlan(inputs, { runs: 60, seed: 1 });
        const text = JSON.stringify(plan, (_, value: unknown) => {
          if (typeof value === "number" && !Number.isFinite(value)) throw new Error(`${value}`);
          return value;
        });
        expect(text).not.toMatch(/NaN|Infinity/);
        expect(planPage(plan, inputs)).not.toMatch(/NaN|Infinity/);
        for (const option of usableOf(plan)) {
          expect(option.cost.p10).toBeLessThanOrEqual(option.cost.p90);
          expect(option.finish.mean).toBeGreaterThanOrEqual(inputs.work * 0.999);
        }
      }),
      { numRuns: 40, endOnFailure: true, interruptAfterTimeLimit: 20_000 },
    );
  });

  it("is never cheaper with more churn, slower restarts or longer saves", () => {
    const factors = fc.double({ min: 1, max: 5, noNaN: true });
    fc.assert(
      fc.property(anyInputs, factors, (inputs, factor) => {
        const cost = meanCost(inputs, "spot");
        if (!Number.isFinite(cost)) return;
        const worse = [
          { ...inputs, churn: { ...inputs.churn, rate: inputs.churn.rate * factor } },
          { ...inputs, restart: inputs.restart * factor },
          { ...inputs, save: inputs.save * factor },
        ];
        // The number of segments is whole: a tiny step back is rounding, not a saving.
        for (const one of worse) expect(meanCost(one, "spot")).toBeGreaterThanOrEqual(cost * (1 - 1e-3));
      }),
      { numRuns: 300 },
    );
  });

  it("answers the published 38-hour case", () => {
    const plan = makePlan(base, { runs: 20_000, seed: 1 });
    const spot = usableOf(plan).find(({ name }) => name === "spot");
    expect(spot?.cost.mean).toBeCloseTo(672, -1);
    expect(spot?.finish.p50).toBeCloseTo(39.9, 1);
    expect(spot?.finish.p95).toBeCloseTo(41.3, 0);
    expect(plan.choice).toBe("flex-start");
    expect(plan.interval.best * 60).toBeCloseTo(10.9, 1);
    expect(plan.interval.steps).toBe(545);
  });

  it("takes Spot when flex-start is too slow for the deadline, and says so", () => {
    const plan = makePlan({ ...base, deadline: 48, flexWait: 12 }, effort);
    expect(plan.choice).toBe("spot");
    expect(plan.warnings.join("\n")).toMatch(/flex-start would cost .* meets the deadline with/);
  });

  it("says when nothing meets the deadline", () => {
    const plan = makePlan({ ...base, deadline: 20 }, effort);
    expect(plan.choice).toBeUndefined();
    expect(plan.verdict).toMatch(/Nothing meets the deadline/);
  });

  it("calls a small difference too close, and a large one by its margin", () => {
    const near = makePlan({ ...base, prices: { ...base.prices, flexStart: 17.6 } }, effort);
    expect(near.isTooClose).toBe(true);
    expect(near.verdict).toMatch(/^Too close to call/);
    const far = makePlan({ ...base, prices: { ...base.prices, flexStart: undefined } }, effort);
    expect(far.isTooClose).toBe(false);
    expect(far.margin).toBeCloseTo(0.4, 1);
  });

  it("gives the same numbers for the same seed", () => {
    expect(makePlan(base, effort)).toEqual(makePlan(base, effort));
    expect(makePlan(base, effort)).not.toEqual(makePlan(base, { ...effort, seed: 4 }));
  });

  it("widens its band when the churn was measured on few events", () => {
    const width = (events: number, hours: number) => {
      const rate = (events + 0.5) / hours;
      const churn = { rate, low: rate / 2, high: rate * 2, measured: { events, hours } };
      const spot = usableOf(makePlan({ ...base, churn }, { runs: 4000, seed: 2 })).find(({ name }) => name === "spot");
      return (spot?.cost.p90 ?? 0) - (spot?.cost.p10 ?? 0);
    };
    expect(width(1, 15)).toBeGreaterThan(1.5 * width(100, 1005));
  });

  it("writes a page that escapes what it is given and asks nobody for anything", () => {
    const page = planPage(makePlan({ ...base, name: "<script>alert(1)</script>" }, effort), base);
    expect(page).not.toContain("<script>");
    expect(page).not.toMatch(/(src|href)=/);
    expect(page).toContain("default-src 'none'");
    expect(page.match(/<svg/g)).toHaveLength(3);
  });
});
