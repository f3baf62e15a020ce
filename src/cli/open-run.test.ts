import { describe, expect, it } from "vitest";
import { type Clock, OutlastError, retry, systemClock } from "../core/index.ts";
import { patienceWith } from "./open-run.ts";

/** How long a call that always fails is repeated, with middling luck, and its longest pause. */
async function endure(location: string, abortAfterMs = Number.POSITIVE_INFINITY) {
  const pauses: number[] = [];
  const stop = new AbortController();
  const total = () => pauses.reduce((sum, ms) => sum + ms, 0);
  const clock: Clock = {
    ...systemClock,
    sleep: (ms) => {
      pauses.push(ms);
      if (total() >= abortAfterMs) stop.abort();
      return Promise.resolve();
    },
  };
  const busy = () => Promise.reject(new OutlastError("OUTLAST_STORE_FAILED", "503", { recovery: "retry" }));
  const options = { ...patienceWith(location), clock, random: () => 0.5, signal: stop.signal };
  await expect(retry(busy, options)).rejects.toThrow("503");
  return { totalMs: total(), longestMs: Math.max(...pauses) };
}

describe("patience with a store", () => {
  it("outlasts a storm of about a minute in a bucket, with pauses of at most 32 s", async () => {
    for (const location of ["gs://b/p", "s3://b/p"]) {
      const { totalMs, longestMs } = await endure(location);
      expect(totalMs).toBeGreaterThan(45_000);
      expect(totalMs).toBeLessThan(90_000);
      expect(longestMs).toBeLessThanOrEqual(32_000);
    }
  });

  it("ends with the call's signal", async () => {
    expect((await endure("gs://b/p", 1000)).totalMs).toBeLessThan(2500);
  });

  it("is short with a directory", async () => {
    expect((await endure("/mnt/checkpoints")).totalMs).toBeLessThan(5000);
  });
});
