/** Out at least this long before the deadline, always. */
const exitReserveMs = 1000;
/** For recording what was not finished, giving it back, and ending the handlers. */
const handBackReserveMs = 1500;

/** How a stop's time is divided; milliseconds from the notice. */
export interface StopPlan {
  /** Handlers may work until then. */
  readonly cutMs: number;
  /** Nothing is waited for any longer; handlers are killed. */
  readonly lastCallMs: number;
  /** The process is ended even if it hangs. */
  readonly overdueMs: number;
}

/** Divides the grace. One too short for the reserves (under 2.5 s) keeps two fifths of it before the deadline. */
export function planStop(graceMs: number): StopPlan {
  const reserve = graceMs >= 2.5 * exitReserveMs ? exitReserveMs : graceMs * 0.4;
  const step = Math.min(100, reserve / 8);
  const overdueMs = graceMs - reserve - step / 2;
  const lastCallMs = overdueMs - step;
  const cutMs = Math.max(lastCallMs - handBackReserveMs, lastCallMs / 2);
  return { cutMs, lastCallMs, overdueMs };
}
