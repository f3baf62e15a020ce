import type { Clock } from "../core/index.ts";

/** Waits for `work`, for the time to pass or for `signal`, whichever is first, and leaves no timer behind. */
export async function waitAtMost(
  work: Promise<unknown>,
  ms: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const wake = signal === undefined ? done.signal : AbortSignal.any([done.signal, signal]);
  try {
    await Promise.race([work, clock.sleep(ms, wake)]);
  } finally {
    done.abort();
  }
}
