import type { Claim, StartOutcome } from "../types.ts";

/** A row of `start_items`. */
export interface StartRow {
  readonly outcome: string;
  readonly failures: number;
  readonly delay_ms: number | null;
}

/** How long an item that the ledger does not know is left alone: it must not be acked, the worker may look at the wrong database. */
const unknownDelayMs = 60_000;

/** What the function's answer means. */
export function readStartOutcome({ outcome, failures, delay_ms }: StartRow, claim: Claim): StartOutcome {
  switch (outcome) {
    case "started":
    case "repeat":
      return { kind: "started", claim, failures };
    case "started-alone":
    case "repeat-alone":
      return { kind: "started-alone", claim, failures };
    case "must-wait":
      return { kind: "must-wait" };
    case "settled":
    case "dies":
      return { kind: "settled" };
    case "unknown":
      return { kind: "handed-back", delayMs: unknownDelayMs, isUnknown: true };
    case "handed-back":
    case "busy":
    case "twice":
      return { kind: "handed-back", delayMs: Math.max(0, Math.ceil(delay_ms ?? 0)) };
    default:
      throw new Error(`start_items answered ${outcome}`);
  }
}
