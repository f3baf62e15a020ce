/**
 * The rules of starting and settling, over rows that one transaction has read and holds. Each database reads its rows, asks here,
 * and writes what it is told. Times are milliseconds of the database's clock.
 */
import type { Ending, ItemKey, ItemLimits, ItemState, Settlement, SettleOutcome, StartOutcome } from "./types.ts";

/** What the rules need to know of an item. */
export interface ItemRow {
  readonly generation: number;
  readonly state: ItemState;
  /** Who leased or claimed it last; null when nobody has. */
  readonly holder: string | null;
  /** Not claimable before: the end of a lease, or of a retry's delay. 0: at once. */
  readonly visibleAt: number;
  /** The current claim, run out or not; null when none was recorded since the item was last settled or handed back. */
  readonly claim: string | null;
  /** When the claim runs out; 0 when it is known to have run out (another lease was given) or there is none. */
  readonly claimUntil: number;
  /** Whether the current claim was started alone. */
  readonly isAlone: boolean;
  readonly failures: number;
  readonly interruptions: number;
  /** Interruptions of claims that were started alone. */
  readonly lonely: number;
  /** Results accepted; never more than one. */
  readonly accepted: number;
  /** Results refused because one stood. */
  readonly late: number;
  readonly lateClaim: string | null;
  /** The last claim that settled it, and how: so that a repeated settlement is known for what it is. */
  readonly settledClaim: string | null;
  readonly settledAs: SettledAs | null;
  readonly error: string | null;
}

/** How a claim ended. */
export type SettledAs = "result" | "failure" | "dead" | "hand-back";

/** A decision on one item: what to answer, and the row as it must be written, or undefined when it stays as it is. */
export interface Decision<Outcome> {
  readonly outcome: Outcome;
  readonly row: ItemRow | undefined;
}

/** What a settlement changes, beside its row. */
export interface SettleDecision extends Decision<SettleOutcome> {
  /** Whether the result must be stored in the user's table, in the same transaction. */
  readonly isStored: boolean;
}

/** How long an item that the ledger does not know is left alone before it is looked at again. */
const unknownDelayMs = 60_000;

/** The options of a start, with the database's time. */
export interface StartRules {
  readonly holder: string;
  readonly leaseMs: number;
  readonly isIdle: boolean;
  readonly limits: ItemLimits;
  readonly claim: string;
  readonly now: number;
}

/**
 * Decides on a chunk that a worker wants to start. `rows[i]` is the row of `items[i]`, undefined when there is none.
 */
export function decideStart(
  items: readonly ItemKey[],
  rows: readonly (ItemRow | undefined)[],
  rules: StartRules,
): Decision<StartOutcome>[] {
  const touched = new Set<string>();
  const views = items.map((item, i): View => {
    const found = view(item, rows[i], rules);
    if (found.kind === "decided" && !found.decision.row) return found;
    // The same item twice in one chunk: a broker may deliver two messages. Only the first counts.
    const isSecond = touched.has(item.id);
    touched.add(item.id);
    if (!isSecond) return found;
    return found.kind === "ready" ? handedBack(rules.leaseMs) : decided(found.decision.outcome);
  });
  const lonely = rules.isIdle ? views.findIndex((found) => found.kind === "ready" && isSuspect(found.row, rules)) : -1;
  return views.map((found, i) => {
    if (found.kind !== "ready") return found.decision;
    const { row } = found;
    if (lonely >= 0 && i !== lonely) return handBack(found.unchanged, rules);
    if (!isSuspect(row, rules)) return begin(row, rules, false);
    return i === lonely ? begin(row, rules, true) : { outcome: { kind: "must-wait" }, row: undefined };
  });
}

type View =
  | { readonly kind: "ready"; readonly row: ItemRow; readonly unchanged: ItemRow }
  | { readonly kind: "decided"; readonly decision: Decision<StartOutcome> };

/** Looks at one item: decided already, or ready to be started with its lost claim charged. */
function view(item: ItemKey, row: ItemRow | undefined, rules: StartRules): View {
  // Not settled for all this ledger knows, so it must not be acked: the worker may look at the wrong database.
  if (!row) {
    return decided({ kind: "handed-back", delayMs: unknownDelayMs, isUnknown: true });
  }
  if (isSettled(row) || row.generation !== item.generation) return decided({ kind: "settled" });
  if (row.claim !== null && row.claimUntil > rules.now) return handedBack(row.claimUntil - rules.now);
  // Another worker's lease, or the delay of a retry that the broker could not keep.
  if (row.holder !== rules.holder && row.visibleAt > rules.now) return handedBack(row.visibleAt - rules.now);
  if (row.claim === null) return { kind: "ready", row, unchanged: row };
  const charged = charge(row);
  if (charged.lonely < rules.limits.lonelyInterruptions) return { kind: "ready", row: charged, unchanged: row };
  const error = `its worker was lost ${charged.interruptions} times while it ran, ${charged.lonely} times with nothing else running`;
  return decided({ kind: "settled" }, bury(charged, error, null));
}

function decided(outcome: StartOutcome, row?: ItemRow): View {
  return { kind: "decided", decision: { outcome, row } };
}

function handedBack(delayMs: number): View {
  return decided({ kind: "handed-back", delayMs });
}

/** A started claim ran out: an interruption, charged once. */
function charge(row: ItemRow): ItemRow {
  const { interruptions, lonely } = row;
  return {
    ...row,
    claim: null,
    claimUntil: 0,
    isAlone: false,
    interruptions: interruptions + 1,
    lonely: lonely + (row.isAlone ? 1 : 0),
  };
}

function isSuspect(row: ItemRow, rules: StartRules): boolean {
  return row.interruptions >= rules.limits.suspectAfter;
}

function begin(row: ItemRow, rules: StartRules, isAlone: boolean): Decision<StartOutcome> {
  const { claim, holder } = rules;
  // A fresh lease is long enough, for renewals come; leaving its end alone saves an index entry in every start.
  const isFresh = row.holder === holder && row.visibleAt - rules.now > rules.leaseMs / 2;
  const until = isFresh ? row.visibleAt : rules.now + rules.leaseMs;
  return {
    outcome: { kind: isAlone ? "started-alone" : "started", claim, failures: row.failures },
    row: { ...row, holder, claim, claimUntil: until, visibleAt: until, isAlone },
  };
}

/** Back at once and uncharged. Only the lease is given up; a lost claim is charged by the start that follows. */
function handBack(row: ItemRow, rules: StartRules): Decision<StartOutcome> {
  return { outcome: { kind: "handed-back", delayMs: 0 }, row: row.holder === rules.holder ? free(row, 0) : undefined };
}

/** Whether an item needs nothing more. */
export function isSettled(row: Pick<ItemRow, "state">): boolean {
  return row.state === "done" || row.state === "dead";
}

/** The options of a settlement, with the database's time. */
export interface SettleRules {
  readonly holder: string;
  readonly limits: ItemLimits;
  readonly now: number;
}

/** Decides on one settlement. */
export function decideSettle(settlement: Settlement, row: ItemRow | undefined, rules: SettleRules): SettleDecision {
  // Purged, or never published here: there is nothing to settle.
  if (!row) return refused;
  const { claim, ending } = settlement;
  const repeated = isRepeated(settlement, row);
  if (repeated) return unstored(repeated);
  if (ending.kind === "result") {
    if (row.accepted > 0) return lateResult(row, claim);
    return { outcome: { kind: "accepted" }, row: finish(row, claim), isStored: true };
  }
  if (isSettled(row) || row.claim !== claim || row.generation !== settlement.generation) return refused;
  if (ending.kind === "hand-back") {
    const back = release(row, rules, 0);
    return unstored({ kind: "accepted", delayMs: 0 }, { ...back, settledClaim: claim, settledAs: "hand-back" });
  }
  return failed(row, claim, ending, rules);
}

function failed(
  row: ItemRow,
  claim: string,
  ending: Extract<Ending, { kind: "failure" }>,
  rules: SettleRules,
): SettleDecision {
  const counted = { ...row, failures: row.failures + 1, error: ending.error };
  if (ending.permanent || counted.failures >= rules.limits.attempts) {
    return unstored({ kind: "accepted", isDead: true }, bury(counted, ending.error, claim));
  }
  const back = release(counted, rules, rules.now + ending.retryDelayMs);
  return unstored(
    { kind: "accepted", delayMs: ending.retryDelayMs },
    { ...back, settledClaim: claim, settledAs: "failure" },
  );
}

/** The same claim settled it the same way before, and the reply was lost. */
function isRepeated({ claim, ending }: Settlement, row: ItemRow): SettleOutcome | undefined {
  if (row.settledClaim !== claim) return undefined;
  if (ending.kind === "result") return row.settledAs === "result" ? { kind: "repeated" } : undefined;
  if (ending.kind === "hand-back") return row.settledAs === "hand-back" ? { kind: "repeated", delayMs: 0 } : undefined;
  if (row.settledAs === "dead") return { kind: "repeated", isDead: true };
  return row.settledAs === "failure" ? { kind: "repeated", delayMs: ending.retryDelayMs } : undefined;
}

const refused: SettleDecision = { outcome: { kind: "refused" }, row: undefined, isStored: false };

function unstored(outcome: SettleOutcome, row?: ItemRow): SettleDecision {
  return { outcome, row, isStored: false };
}

/** Results stand. A late one is counted once, however often its worker says it. */
function lateResult(row: ItemRow, claim: string): SettleDecision {
  if (row.lateClaim === claim) return unstored({ kind: "late" });
  return unstored({ kind: "late" }, { ...row, late: row.late + 1, lateClaim: claim });
}

function finish(row: ItemRow, claim: string): ItemRow {
  return {
    ...free(row, 0),
    ...noClaim,
    state: "done",
    accepted: row.accepted + 1,
    error: null,
    settledClaim: claim,
    settledAs: "result",
  };
}

function bury(row: ItemRow, error: string, claim: string | null): ItemRow {
  return { ...free(row, 0), ...noClaim, state: "dead", error, settledClaim: claim, settledAs: "dead" };
}

/** Ends the claim. The lease goes with it, unless another worker has leased the item meanwhile. */
function release(row: ItemRow, rules: SettleRules, visibleAt: number): ItemRow {
  return { ...(row.holder === rules.holder ? free(row, visibleAt) : row), ...noClaim };
}

const noClaim = { claim: null, claimUntil: 0, isAlone: false } as const;

function free(row: ItemRow, visibleAt: number): ItemRow {
  return { ...row, holder: null, visibleAt };
}
