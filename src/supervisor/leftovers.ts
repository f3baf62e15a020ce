import type { Clock } from "../core/index.ts";
import { findKin, isRunning, type Kinship, type ProcessInfo, sendSignal } from "./process-tree.ts";

/** How {@link endLeftovers} goes about it. */
export interface LeftoverOptions {
  readonly kinship: Kinship;
  readonly signal: NodeJS.Signals;
  /** Milliseconds until SIGKILL; asked again and again, because the deadline may move. */
  readonly remainingMs: () => number;
  readonly clock: Clock;
  /** Cuts every wait short. */
  readonly hurry?: AbortSignal;
}

/** What the child had left behind. */
export interface Leftovers {
  readonly found: number;
  readonly killed: number;
}

const lookMs = 20;

/**
 * Ends what the main child left running, so that nothing writes on after us: the stop signal first (a launcher that does not forward
 * signals leaves the real trainer behind, which may still save), SIGKILL when its time is over.
 */
export async function endLeftovers(options: LeftoverOptions): Promise<Leftovers> {
  const { kinship, clock, hurry } = options;
  let left = findKin(kinship);
  const found = left.length;
  for (const info of left) sendSignal(info.pid, options.signal);
  while (left.length > 0 && options.remainingMs() > 0 && !hurry?.aborted) {
    await clock.sleep(Math.min(lookMs, options.remainingMs()), hurry);
    left = stillRunning(left, kinship);
  }
  const killed = left.length === 0 ? 0 : await killKin(kinship, clock);
  return { found, killed };
}

/** SIGKILL for every relative, again while new ones appear; a process stuck in the kernel is given up on after a second. */
export async function killKin(kinship: Kinship, clock: Clock): Promise<number> {
  const killed = new Set<number>();
  for (let round = 0; round < 50; round += 1) {
    const left = findKin(kinship);
    if (left.length === 0) break;
    for (const info of left) {
      sendSignal(info.pid, "SIGKILL");
      killed.add(info.pid);
    }
    await clock.sleep(lookMs);
  }
  return killed.size;
}

/** Looks for newly forked ones only when all known ones are gone: a full look reads every process's environment. */
function stillRunning(known: readonly ProcessInfo[], kinship: Kinship): readonly ProcessInfo[] {
  const running = known.filter(isRunning);
  return running.length > 0 ? running : findKin(kinship);
}
