import { decideSettle, type SettleDecision, type SettleRules } from "../rules.ts";
import type { Ledger, Settlement, SettleOutcome } from "../types.ts";
import { readRows, type StoredRow, writeRow } from "./item-rows.ts";
import { isRefusedRow } from "./sqlite-error.ts";
import type { SqliteFile } from "./sqlite-file.ts";
import { Totals } from "./totals.ts";
import { ResultRefused, type UserTable } from "./user-table.ts";

/** Settles a chunk, inside a transaction of the caller: results, rows and totals, all or nothing. */
export function settleItems(
  file: SqliteFile,
  table: UserTable,
  settlements: readonly Settlement[],
  options: Parameters<Ledger["settle"]>[1],
): SettleOutcome[] {
  const rules = { ...options, now: file.now() };
  const rows = readRows(
    file,
    settlements.map((settlement) => settlement.id),
  );
  const totals = new Totals();
  const outcomes = settlements.map((settlement) => {
    const before = rows.get(settlement.id);
    const { outcome, row } = decideAndStore(file, table, settlement, before, rules);
    if (row && before) {
      writeRow(file, before, row, rules.now);
      totals.count(before, row);
      // A chunk may hold an item twice.
      rows.set(settlement.id, { ...row, seq: before.seq });
    }
    return outcome;
  });
  totals.write(file, rules.now);
  return outcomes;
}

/** A result that the user's table refuses is a failure of the handler, for good: the same result would be refused again. */
function decideAndStore(
  file: SqliteFile,
  table: UserTable,
  settlement: Settlement,
  before: StoredRow | undefined,
  rules: SettleRules,
): SettleDecision {
  const decision = decideSettle(settlement, before, rules);
  if (!decision.isStored || settlement.ending.kind !== "result") return decision;
  try {
    // A statement that fails a constraint undoes itself and leaves the transaction as it was.
    table.store(file, settlement.id, settlement.ending.result, rules.now);
    return decision;
  } catch (error) {
    // The user's table may also be made to roll the whole transaction back: then the chunk fails as one.
    if (!file.isInTransaction || (!(error instanceof ResultRefused) && !isRefusedRow(error))) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const ending = {
      kind: "failure",
      error: `the result cannot be stored: ${reason}`,
      permanent: true,
      retryDelayMs: 0,
    } as const;
    return decideSettle({ ...settlement, ending }, before, rules);
  }
}
