import { assertNever } from "../../core/index.ts";
import { quoteName } from "../quote-name.ts";
import type { ResultsTable } from "../results-url.ts";
import type { Ending, JsonValue, Ledger, Settlement, SettleOutcome } from "../types.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { isDataError } from "./postgres-errors.ts";
import { fieldColumns, type TableShape, upsertStatement } from "./results-table.ts";

/** The options of {@link Ledger.settle}. */
export type SettleOptions = Parameters<Ledger["settle"]>[1];

/** Where a settlement goes. */
export interface SettleTarget {
  readonly schema: string;
  readonly shape: TableShape;
  readonly table: ResultsTable;
}

interface SettleRow {
  readonly outcome: "accepted" | "repeated" | "late" | "refused";
  readonly is_dead: boolean;
}

/**
 * Settles a chunk in one statement: ledger, totals and results, all or nothing. When one item's result is what the user's table does not
 * take, the items are settled one by one, and that one is a failure for good: the same result would be refused again.
 */
export async function settleChunk(
  database: PostgresDatabase,
  target: SettleTarget,
  settlements: readonly Settlement[],
  options: SettleOptions,
): Promise<readonly SettleOutcome[]> {
  // One item twice in a chunk: the second must see what the first has done.
  if (new Set(settlements.map((settlement) => settlement.id)).size < settlements.length) {
    return oneByOne(database, target, settlements, options);
  }
  try {
    return await settleAtOnce(database, target, settlements, options);
  } catch (error) {
    if (!isDataError(error)) throw error;
    const [first, ...others] = settlements;
    if (!first || others.length > 0) return oneByOne(database, target, settlements, options);
    if (first.ending.kind !== "result") throw error;
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return settleAtOnce(database, target, [{ ...first, ending: unstorable(reason) }], options);
  }
}

async function oneByOne(
  database: PostgresDatabase,
  target: SettleTarget,
  settlements: readonly Settlement[],
  options: SettleOptions,
): Promise<readonly SettleOutcome[]> {
  const outcomes: SettleOutcome[] = [];
  for (const settlement of settlements) outcomes.push(...(await settleChunk(database, target, [settlement], options)));
  return outcomes;
}

async function settleAtOnce(
  database: PostgresDatabase,
  target: SettleTarget,
  settlements: readonly Settlement[],
  { holder, limits }: SettleOptions,
): Promise<readonly SettleOutcome[]> {
  const checked = settlements.map((settlement) => withStorable(settlement, target.table));
  const endings = checked.map(({ ending }) => ending);
  const hasResult = endings.some((ending) => ending.kind === "result");
  const values = [
    checked.map((settlement) => settlement.id),
    checked.map((settlement) => settlement.generation),
    checked.map((settlement) => settlement.claim),
    endings.map(nameOf),
    // NUL cannot be stored in text; an error message is better off without it than lost.
    endings.map((ending) => (ending.kind === "failure" ? ending.error.replaceAll("\0", "\u{fffd}") : null)),
    endings.map((ending) => (ending.kind === "failure" ? ending.retryDelayMs : 0)),
    holder,
    limits.attempts,
    ...(hasResult ? [endings.map((ending) => (ending.kind === "result" ? JSON.stringify(ending.result) : null))] : []),
  ];
  const name = hasResult ? "settle" : "settleWithoutResults";
  const rows = await database.query<SettleRow>(name, statement(target, hasResult), values);
  return rows.map((row, i) => outcomeOf(row, endings[i]));
}

function statement({ schema, shape, table }: SettleTarget, hasResult: boolean): string {
  const settled = `SELECT * FROM ${quoteName(schema)}.settle_items($1, $2, $3, $4, $5, $6, $7, $8)`;
  if (!hasResult) return settled;
  const given = `(SELECT g.id, g.result FROM settled JOIN unnest($1::text[], $9::text[]) WITH ORDINALITY AS g (id, result, ord)
  ON g.ord = settled.ord WHERE settled.is_stored)`;
  return `WITH settled AS MATERIALIZED (${settled}), stored AS (${upsertStatement(shape, table, given)})
SELECT outcome, is_dead FROM settled ORDER BY ord`;
}

function nameOf(ending: Ending): string {
  if (ending.kind !== "failure") return ending.kind;
  return ending.permanent ? "permanent" : "failure";
}

function outcomeOf({ outcome, is_dead }: SettleRow, ending: Ending | undefined): SettleOutcome {
  switch (outcome) {
    case "late":
    case "refused":
      return { kind: outcome };
    case "accepted":
    case "repeated": {
      if (is_dead) return { kind: outcome, isDead: true };
      if (ending?.kind === "hand-back") return { kind: outcome, delayMs: 0 };
      return ending?.kind === "failure" ? { kind: outcome, delayMs: ending.retryDelayMs } : { kind: outcome };
    }
    default:
      return assertNever(outcome);
  }
}

/** Fields of their own need an object to take them from. */
function withStorable(settlement: Settlement, table: ResultsTable): Settlement {
  const { ending } = settlement;
  if (ending.kind !== "result" || table.fields.kind === "whole" || isObject(ending.result)) return settlement;
  const reason = `the result must be an object with the fields ${fieldColumns(table).join(", ")}`;
  return { ...settlement, ending: unstorable(reason) };
}

function unstorable(reason: string): Ending {
  return { kind: "failure", error: `the result cannot be stored: ${reason}`, permanent: true, retryDelayMs: 0 };
}

function isObject(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
