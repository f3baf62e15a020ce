/** What preemptions cost a queue of items, where only the item in hand is lost. */
export interface ItemCost {
  /** Billed hours for one item's worth of result. */
  readonly billed: number;
  /** How often an item is begun. */
  readonly attempts: number;
}

/** An item of `hours` on workers preempted at `rate`, each back after `restart`. */
export function itemCost(hours: number, rate: number, restart: number): ItemCost {
  if (rate === 0) return { billed: hours, attempts: 1 };
  return { billed: (Math.exp(rate * restart) * Math.expm1(rate * hours)) / rate, attempts: Math.exp(rate * hours) };
}

/** The same to first order, good for explaining: hours * (1 + rate * (hours/2 + restart)). */
export function itemCostRoughly(hours: number, rate: number, restart: number): number {
  return hours * (1 + rate * (hours / 2 + restart));
}
