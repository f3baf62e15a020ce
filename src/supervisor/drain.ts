import type { Clock } from "../core/index.ts";
import type { Child, ChildEnd } from "./child.ts";
import { endLeftovers, killKin, type Leftovers } from "./leftovers.ts";
import type { Stopping } from "./stopping.ts";
import { waitAtMost } from "./wait.ts";

/** What {@link drain} needs to know. */
export interface DrainOptions {
  readonly child: Child;
  readonly stopping: Stopping;
  readonly clock: Clock;
  /** Sent to what the child leaves behind. */
  readonly stopSignal: NodeJS.Signals;
  /** How long that may take when there was no notice. */
  readonly leftoverMs: number;
  readonly predictedFlushMs: () => number;
  /** Called once, when the main child has ended. */
  readonly onEnd: () => void;
}

/** How the child and all that belonged to it went. */
export interface Drained extends Leftovers {
  readonly end: ChildEnd;
  /** It ended before anybody asked for a stop. */
  readonly byItself: boolean;
  /** Something had to be killed. */
  readonly forced: boolean;
}

/** Waits for the child and for all that it leaves behind; kills what does not end in time. */
export async function drain(options: DrainOptions): Promise<Drained> {
  const { child, stopping, clock } = options;
  const untilKillMs = () => stopping.times?.untilKillMs(options.predictedFlushMs()) ?? Number.POSITIVE_INFINITY;
  let wasKilled = false;
  while (child.end === undefined) {
    if (stopping.cause === undefined) {
      await Promise.race([child.ended, stopping.requested]);
      continue;
    }
    const leftMs = stopping.hurry.aborted ? 0 : untilKillMs();
    if (leftMs <= 0) {
      wasKilled = true;
      child.signal("SIGKILL", "tree");
      await Promise.race([child.ended, stopping.lastCall]);
      break;
    }
    // Short, because the predicted upload, and with it the moment of the kill, changes as the child saves.
    await waitAtMost(child.ended, Math.min(100, leftMs), clock, stopping.hurry);
  }
  const byItself = stopping.cause === undefined;
  options.onEnd();
  const leftovers = wasKilled ? await killLeftovers() : await endPolitely();
  return {
    ...leftovers,
    // A child that does not even die of SIGKILL hangs in the kernel; it is counted as killed.
    end: child.end ?? { code: null, signal: "SIGKILL" },
    byItself,
    forced: wasKilled || leftovers.killed > 0,
  };

  async function killLeftovers(): Promise<Leftovers> {
    const killed = await killKin(child.kinship, clock);
    return { found: killed, killed };
  }

  function endPolitely(): Promise<Leftovers> {
    const since = clock.monotonic();
    return endLeftovers({
      kinship: child.kinship,
      signal: options.stopSignal,
      clock,
      hurry: stopping.hurry,
      remainingMs: () =>
        stopping.cause === undefined ? options.leftoverMs - (clock.monotonic() - since) : untilKillMs(),
    });
  }
}
