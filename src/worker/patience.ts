import { type Clock, formatDuration, isOutlastError, OutlastError, systemCode } from "../core/index.ts";

/** Codes of a connection that may come back. */
const passing = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EAI_AGAIN", "ENOTFOUND", "EHOSTUNREACH"]);

export interface PatienceOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** How long a call that keeps failing is repeated. */
  readonly patienceMs: number;
  /** Cuts waiting short: then the last error is thrown. */
  readonly signal: AbortSignal;
  readonly onTrouble: (error: unknown, call: string, nextInMs: number) => void;
  readonly onRecovered: (call: string, afterMs: number) => void;
}

/** Repeats calls to the queue while it fails in a way that may pass: a restarted database must not end a worker. */
export class Patience {
  readonly #options: PatienceOptions;

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  /** Calls until it succeeds; every call of a queue is safe to repeat. Gives up after the patience, or at `until`. */
  async call<T>(name: string, act: () => Promise<T>, until?: () => number): Promise<T> {
    const { clock, random, patienceMs, signal, onTrouble, onRecovered } = this.#options;
    let since: number | undefined;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const value = await act();
        if (since !== undefined) onRecovered(name, clock.monotonic() - since);
        return value;
      } catch (error) {
        since ??= clock.monotonic();
        if (!mayPass(error)) throw error;
        const spentMs = clock.monotonic() - since;
        const leftMs = Math.min(patienceMs - spentMs, until?.() ?? Number.POSITIVE_INFINITY);
        if (leftMs <= 0 || (signal.aborted && until === undefined)) throw givenUp(name, error, spentMs);
        const delayMs = Math.min(leftMs, 5000, 100 * 2 ** Math.min(attempt, 10)) * (0.5 + random() / 2);
        onTrouble(error, name, delayMs);
        await clock.sleep(delayMs, until === undefined ? signal : undefined);
      }
    }
  }
}

function mayPass(error: unknown): boolean {
  if (isOutlastError(error)) return error.recovery === "retry";
  return passing.has(systemCode(error) ?? "");
}

function givenUp(name: string, error: unknown, spentMs: number): OutlastError {
  const message = error instanceof Error ? error.message : String(error);
  return new OutlastError(
    "OUTLAST_QUEUE_UNREACHABLE",
    `the queue did not answer for ${formatDuration(spentMs)}: ${message}`,
    {
      hint: "see that the database or broker runs and can be reached, then start the worker again: nothing is lost, unfinished items come back by themselves",
      cause: error,
      operation: name,
    },
  );
}
