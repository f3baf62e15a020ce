import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/index.ts";
import { SharedRate } from "./shared-rate.ts";

const MB = 1e6;

/** Sends slices one after the other as soon as they are let through, and notes when. */
async function sender(rate: SharedRate, clock: FakeClock, bytes: number, sent: { at: number; bytes: number }[]) {
  for (;;) {
    await rate.take(bytes);
    sent.push({ at: clock.monotonic(), bytes });
  }
}

/** Bytes let through from one time to another. */
function between(sent: readonly { at: number; bytes: number }[], from: number, to: number): number {
  return sent.filter(({ at }) => at >= from && at < to).reduce((sum, { bytes }) => sum + bytes, 0);
}

async function run(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5) await clock.advance(5);
}

describe("a rate that threads keep together", () => {
  it("holds any number of senders to the rate, second by second", async () => {
    const clock = new FakeClock();
    const rate = SharedRate.of(50 * MB, clock);
    const sent: { at: number; bytes: number }[] = [];
    const other = new SharedRate(rate.memory, clock);
    for (const one of [rate, rate, other, other]) void sender(one, clock, 0.25 * MB, sent);
    const start = clock.monotonic();
    await run(clock, 4000);
    for (let second = 1; second < 4; second += 1) {
      const bytes = between(sent, start + 1000 * second, start + 1000 * (second + 1));
      expect(Math.abs(bytes / (50 * MB) - 1)).toBeLessThan(0.03);
    }
    rate.lift();
  });

  it("serves them alike", async () => {
    const clock = new FakeClock();
    const rate = SharedRate.of(10 * MB, clock);
    const each = [1, 2, 3].map(() => [] as { at: number; bytes: number }[]);
    for (const sent of each) void sender(rate, clock, 0.1 * MB, sent);
    await run(clock, 3000);
    const counts = each.map((sent) => sent.length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    rate.lift();
  });

  it("saves nothing up while nobody sends", async () => {
    const clock = new FakeClock();
    const rate = SharedRate.of(10 * MB, clock);
    await clock.advance(60_000);
    const sent: { at: number; bytes: number }[] = [];
    void sender(rate, clock, 0.1 * MB, sent);
    const start = clock.monotonic();
    await run(clock, 1000);
    expect(between(sent, start, start + 1000)).toBeLessThan(10 * MB * 1.1);
    rate.lift();
  });

  it("lets everybody through once lifted", async () => {
    const clock = new FakeClock();
    const rate = SharedRate.of(1024, clock);
    await rate.take(8 * MB);
    let isThrough = false;
    void rate.take(8 * MB).then(() => {
      isThrough = true;
    });
    await run(clock, 1000);
    expect(isThrough).toBe(false);
    new SharedRate(rate.memory, clock).lift();
    await run(clock, 100);
    expect(isThrough).toBe(true);
    await rate.take(1000 * MB);
  });

  it("does not keep waiting who was told to stop", async () => {
    const clock = new FakeClock();
    const rate = SharedRate.of(1024, clock);
    await rate.take(8 * MB);
    const abort = new AbortController();
    const waiting = rate.take(8 * MB, abort.signal);
    abort.abort();
    await waiting;
  });

  it("loses no byte between real threads", async () => {
    const rate = SharedRate.of(1000 * MB);
    const source = `
      const { parentPort, workerData } = require("node:worker_threads");
      import(workerData.module).then(async ({ SharedRate }) => {
        const rate = new SharedRate(workerData.memory);
        for (let i = 0; i < 2000; i += 1) await rate.take(1);
        parentPort.postMessage("done");
      });`;
    const module = new URL("./shared-rate.ts", import.meta.url).href;
    const before = Number(process.hrtime.bigint()) / 1e6;
    // Far ahead of now, so that every reservation stands in line behind the one before.
    await rate.take(100 * MB);
    const lifted = new BigInt64Array(rate.memory);
    const reserved = lifted[0] ?? 0n;
    Atomics.store(lifted, 1, 1_000_000n);
    const workers = [1, 2].map(() => new Worker(source, { eval: true, workerData: { memory: rate.memory, module } }));
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once("message", resolve))));
    await Promise.all(workers.map((worker) => worker.terminate()));
    expect(before).toBeGreaterThan(0);
    // 4,000 reservations of a byte at a megabyte a second: a microsecond each.
    expect(Number((lifted[0] ?? 0n) - reserved)).toBeGreaterThanOrEqual(4000);
  });
});
