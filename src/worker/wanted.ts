import type { Depth } from "../results/index.ts";

export interface WantedOptions {
  readonly chunk: number;
  /** Chunks that one worker is expected to get through. */
  readonly chunksPerWorker: number;
  readonly maxWorkers: number | undefined;
}

/** How many workers the queue could keep busy: never 0 while anything is ready or in hand, or the last busy ones would be scaled away. */
export function wantedWorkers({ ready, leased }: Pick<Depth, "ready" | "leased">, options: WantedOptions): number {
  const wanted = Math.ceil((ready + leased) / (options.chunk * options.chunksPerWorker));
  return Math.min(wanted, options.maxWorkers ?? wanted);
}
