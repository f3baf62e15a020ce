import type { Clock } from "../core/index.ts";
import type { Delivery, WorkQueue } from "../queue/index.ts";
import type { ItemKey } from "../results/index.ts";

export interface LeaseKeeperOptions {
  readonly queue: Pick<WorkQueue, "renew">;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly inHand: () => readonly Delivery[];
  readonly onLost: (items: readonly ItemKey[]) => void;
  readonly onTrouble: (error: unknown) => void;
}

/** Renews every lease in hand each third of its time until `signal` aborts; a renewal that fails is tried again sooner. */
export async function keepLeases(options: LeaseKeeperOptions, signal: AbortSignal): Promise<void> {
  const { queue, clock, leaseMs, inHand, onLost, onTrouble } = options;
  const told = new Set<string>();
  let waitMs = leaseMs / 3;
  while (!signal.aborted) {
    await clock.sleep(waitMs, signal);
    if (signal.aborted) return;
    const held = inHand();
    waitMs = leaseMs / 3;
    if (held.length === 0) {
      told.clear();
      continue;
    }
    try {
      const lost = (await queue.renew(held)).filter(({ id, generation }) => !told.has(`${generation}:${id}`));
      for (const { id, generation } of lost) told.add(`${generation}:${id}`);
      if (lost.length > 0) onLost(lost);
    } catch (error) {
      waitMs = Math.max(50, leaseMs / 12);
      onTrouble(error);
    }
  }
}
