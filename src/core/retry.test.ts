import { expect, it } from "vitest";
import { OutlastError } from "./errors.ts";
import { retry } from "./retry.ts";

async function delaysOf(retryAfterMs: number | undefined, random: number): Promise<number[]> {
  const delays: number[] = [];
  const clock = { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const act = () => {
    const error = new OutlastError("OUTLAST_STORE_UNREACHABLE", "busy", { recovery: "retry", retryAfterMs });
    return Promise.reject<void>(error);
  };
  const onRetry = (_: unknown, __: number, delayMs: number) => delays.push(delayMs);
  await retry(act, { clock, attempts: 4, maxDelayMs: 2_000, random: () => random, onRetry }).catch(() => {});
  return delays;
}

it("waits between attempts by truncated backoff", async () => {
  expect(await delaysOf(undefined, 0.5)).toEqual([50, 100, 200]);
});

it("waits as long as the error asks, where that is longer, and never longer than its own limit", async () => {
  expect(await delaysOf(150, 0.5)).toEqual([150, 150, 200]);
  expect(await delaysOf(60_000, 0.5)).toEqual([2_000, 2_000, 2_000]);
});
