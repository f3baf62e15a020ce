import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cappedLifetime,
  expectBest,
  expectedFlushSegment,
  expectJob,
  expectOnLifetimes,
  exponentialLifetime,
  weibullLifetime,
  weibullScale,
} from "../../src/plan/index.ts";
import { randomOf } from "../../src/plan/simulate/random.ts";
import { billedHours, simulateJob, wallHours } from "../../src/plan/simulate/run-job.ts";
import { quantile, shareWithin, simulate } from "../../src/plan/simulate/simulate.ts";

const runs = 20_000;
const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
const within = (actual: number, expected: number, share: number) => {
  expect(Math.abs(actual / expected - 1), `${actual} against ${expected}`).toBeLessThanOrEqual(share);
};

describe("the simulator against the closed forms, 20,000 runs", () => {
  const job = { work: 38, save: 1 / 60, restart: 1 / 6, wait: 1 / 12, rate: 0.1 };

  it("agrees on blocking and on background saves", () => {
    for (const upload of [0, 75 / 3600]) {
      const expected = expectBest({ ...job, upload });
      const lifetime = exponentialLifetime(job.rate);
      const got = simulate({ ...job, upload, segments: expected.segments, lifetime }, runs, 1);
      within(mean(got.billed), expected.billed, 0.01);
      within(mean(got.wall), expected.wall, 0.01);
      within(got.preemptions, expected.preemptions, 0.02);
    }
  });

  it("agrees where a restart is often interrupted", () => {
    const harsh = { work: 12, save: 0.005, upload: 1 / 6, restart: 0.5, wait: 0.05, rate: 0.8 };
    const expected = expectJob(harsh, 24);
    const got = simulate({ ...harsh, segments: 24, lifetime: exponentialLifetime(0.8) }, runs, 2);
    within(mean(got.billed), expected.billed, 0.01);
    within(mean(got.wall), expected.wall, 0.01);
  });

  it("agrees on Weibull lifetimes of either shape, and on a cap", () => {
    const model = { work: 24, save: 0.02, restart: 0.2, wait: 0.1 };
    for (const lifetime of [
      weibullLifetime(0.6, weibullScale(0.6, 4)),
      weibullLifetime(1.5, weibullScale(1.5, 4)),
      cappedLifetime(exponentialLifetime(0.1), 10),
    ]) {
      const expected = expectOnLifetimes(model, 24, lifetime);
      const got = simulate({ ...model, segments: 24, lifetime }, runs, 3);
      within(mean(got.billed), expected.billed, 0.01);
      within(mean(got.wall), expected.wall, 0.01);
    }
  });

  it("agrees on a flush by notice", () => {
    const segment = { work: 0.5, save: 1 / 60, restart: 1 / 6, wait: 1 / 12, rate: 0.4 };
    const flush = { chance: 0.9, time: 20 / 3600 };
    const expected = expectedFlushSegment(segment, flush);
    const segments = 40;
    const got = simulate(
      { ...segment, work: 0.5 * segments, segments, lifetime: exponentialLifetime(segment.rate), flush },
      runs,
      4,
    );
    // The closed form counts neither the first start nor that the last save is not the end of a machine.
    const firstStart = (1 / segment.rate + segment.wait) * Math.expm1(segment.rate * segment.restart);
    within(mean(got.wall), segments * expected + firstStart, 0.01);
  });
});

describe("the hour ledger", () => {
  const arbitrary = fc.record({
    work: fc.double({ min: 0.5, max: 100, noNaN: true }),
    save: fc.double({ min: 0, max: 0.2, noNaN: true }),
    upload: fc.double({ min: 0, max: 0.5, noNaN: true }),
    restart: fc.double({ min: 0, max: 0.5, noNaN: true }),
    wait: fc.double({ min: 0, max: 2, noNaN: true }),
    segments: fc.integer({ min: 1, max: 200 }),
    rate: fc.double({ min: 0.001, max: 1, noNaN: true }),
    chance: fc.double({ min: 0, max: 1, noNaN: true }),
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
  });

  it("has no negative entry, all the work in it, and as many machines as its hours say", () => {
    fc.assert(
      fc.property(arbitrary, ({ rate, chance, seed, ...job }) => {
        const lives: number[] = [];
        const law = exponentialLifetime(rate);
        const lifetime = {
          ...law,
          draw: (uniform: number) => {
            lives.push(law.draw(uniform));
            return lives.at(-1) as number;
          },
        };
        const flush = { chance, time: 0.01 };
        const run = simulateJob({ ...job, lifetime, flush, patience: 2000 }, randomOf(seed, 0));
        if (!run) return;
        for (const hours of Object.values(run.ledger)) expect(hours).toBeGreaterThanOrEqual(-1e-9);
        expect(run.ledger.work).toBe(job.work);
        expect(lives).toHaveLength(run.preemptions + 1);
        // Every machine but the last lived its whole life, and nothing but flushes came on top.
        const lived = lives.slice(0, -1).reduce((sum, life) => sum + life, 0);
        const flushes = run.ledger.flushes - job.upload;
        const last = billedHours(run.ledger) - lived - flushes;
        expect(last).toBeLessThanOrEqual((lives.at(-1) as number) + 1e-6);
        expect(last).toBeGreaterThanOrEqual(job.restart + job.upload - 1e-6);
        expect(wallHours(run.ledger) - billedHours(run.ledger)).toBeCloseTo(run.ledger.waits, 6);
      }),
      { numRuns: 300 },
    );
  });
});

describe("randomness", () => {
  it("is the same for a seed, another for another, and even", () => {
    const draw = (seed: number, stream: number) => {
      const random = randomOf(seed, stream);
      return Array.from({ length: 1000 }, () => random.next());
    };
    expect(draw(1, 5)).toEqual(draw(1, 5));
    expect(draw(1, 5)).not.toEqual(draw(2, 5));
    expect(draw(1, 5)).not.toEqual(draw(1, 6));
    const firsts = Array.from({ length: 20_000 }, (_, stream) => randomOf(9, stream).next());
    const counts = new Array<number>(20).fill(0);
    for (const value of firsts) counts[Math.floor(value * 20)] = (counts[Math.floor(value * 20)] ?? 0) + 1;
    // Chi-square with 19 degrees of freedom: 50 is beyond one in ten thousand.
    expect(counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0)).toBeLessThan(50);
  });
});

describe("quantiles", () => {
  it("interpolate, and are the inverse of shares", () => {
    const values = Float64Array.from([1, 2, 3, 4, 5]);
    expect(quantile(values, 0.5)).toBe(3);
    expect(quantile(values, 0.9)).toBeCloseTo(4.6);
    expect(shareWithin(values, 3)).toBe(0.6);
    expect(shareWithin(values, 0.5)).toBe(0);
    expect(quantile(new Float64Array(), 0.5)).toBe(Number.POSITIVE_INFINITY);
  });
});
