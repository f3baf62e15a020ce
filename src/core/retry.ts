import type { Clock } from "./clock.ts";
import { isOutlastError } from "./errors.ts";

/** How often and how patiently to try again. */
export interface RetryOptions {
  readonly clock: Clock;
  /** @default 6 */
  readonly attempts?: number;
  /** Delay before the second attempt; doubles from there. @default 100 */
  readonly firstDelayMs?: number;
  /** @default 10_000 */
  readonly maxDelayMs?: number;
  /** No new attempt begins after it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** @default errors whose `recovery` is `retry` */
  readonly isTransient?: (error: unknown) => boolean;
  readonly onRetry?: (error: unknown, attempt: number, delayMs: number) => void;
  /** A number in [0, 1). @default Math.random */
  readonly random?: () => number;
}

/**
 * Runs `act` until it succeeds, with truncated exponential backoff and full jitter between attempts. A longer wait that the
 * error asks for is honoured, up to `maxDelayMs`.
 */
export async function retry<T>(act: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { clock, attempts = 6, firstDelayMs = 100, maxDelayMs = 10_000, signal, random = Math.random } = options;
  const isTransient = options.isTransient ?? ((error) => isOutlastError(error) && error.recovery === "retry");
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (attempt >= attempts || signal?.aborted || !isTransient(error)) throw error;
      const backoffMs = random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
      const askedMs = isOutlastError(error) ? (error.retryAfterMs ?? 0) : 0;
      const delayMs = Math.max(backoffMs, Math.min(askedMs, maxDelayMs));
      options.onRetry?.(error, attempt, delayMs);
      await clock.sleep(delayMs, signal);
      if (signal?.aborted) throw error;
    }
  }
}
