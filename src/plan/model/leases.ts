/** A job on capacity that is lent for a fixed time and then taken: flex-start. Hours. */
export interface LeaseJob {
  readonly work: number;
  /** The longest lease: 168 h on flex-start. */
  readonly cap: number;
  readonly restart: number;
  /** Stall of a save, and how often one is made. */
  readonly save: number;
  readonly interval: number;
  /** The planned save before the end of a lease. */
  readonly lastSave: number;
}

/** How many leases a job needs and what they bill. */
export interface Leases {
  readonly leases: number;
  readonly workPerLease: number;
  readonly billed: number;
}

/** A job that outlives its lease is cut into several, each begun with a restart and ended with a planned save. */
export function splitIntoLeases({ work, cap, restart, save, interval, lastSave }: LeaseJob): Leases {
  const stall = 1 + save / interval;
  const workPerLease = (cap - restart - lastSave) / stall;
  const leases = Math.max(1, Math.ceil(work / workPerLease));
  return { leases, workPerLease, billed: work * stall + leases * restart + (leases - 1) * lastSave };
}
