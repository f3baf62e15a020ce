import { type Clock, formatDuration } from "../core/index.ts";
import type { Lane } from "./lane.ts";

/** How long a handler may think before a word is said about it. */
const firstMs = 60_000;

export interface SilenceOptions {
  readonly lanes: readonly Pick<Lane, "silentMs">[];
  readonly clock: Clock;
  readonly onSilence: (fields: Readonly<Record<string, unknown>>) => void;
}

/** Says so when a handler does not answer, after a minute and then each time the silence has doubled: it may be at work, or wait for ever. */
export async function watchSilence({ lanes, clock, onSilence }: SilenceOptions, signal: AbortSignal): Promise<void> {
  let nextMs = firstMs;
  while (!signal.aborted) {
    await clock.sleep(firstMs / 4, signal);
    const silentMs = Math.max(0, ...lanes.map((lane) => lane.silentMs ?? 0));
    if (silentMs < firstMs) nextMs = firstMs;
    if (silentMs < nextMs) continue;
    nextMs *= 2;
    onSilence({
      silent: formatDuration(silentMs),
      hint: "it may be at work; --item-timeout ends what hangs, and answers must be lines of JSON on its standard output",
    });
  }
}
