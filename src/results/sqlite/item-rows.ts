import { type ItemRow, isSettled, type SettledAs } from "../rules.ts";
import type { ItemState } from "../types.ts";
import type { SqliteFile, SqliteRow } from "./sqlite-file.ts";

/** A row with its place in the table. */
export interface StoredRow extends ItemRow {
  readonly seq: number;
}

const columns = `seq, id, generation, state, holder, visible_at, claim, claim_until, is_alone, failures, interruptions, lonely,
  accepted, late, late_claim, settled_claim, settled_as, error`;

const selectRows = `SELECT ${columns} FROM outlast_items WHERE id IN (SELECT value FROM json_each(?))`;

/** Reads the rows of some ids. */
export function readRows(file: SqliteFile, ids: readonly string[]): Map<string, StoredRow> {
  const rows = new Map<string, StoredRow>();
  for (const row of file.all(selectRows, JSON.stringify(ids))) rows.set(String(row["id"]), toRow(row));
  return rows;
}

function toRow(row: SqliteRow): StoredRow {
  // Only this folder writes the table, and its CHECK holds the states.
  return {
    seq: row["seq"] as number,
    generation: row["generation"] as number,
    state: row["state"] as ItemState,
    holder: row["holder"] as string | null,
    visibleAt: row["visible_at"] as number,
    claim: row["claim"] as string | null,
    claimUntil: row["claim_until"] as number,
    isAlone: row["is_alone"] === 1,
    failures: row["failures"] as number,
    interruptions: row["interruptions"] as number,
    lonely: row["lonely"] as number,
    accepted: row["accepted"] as number,
    late: row["late"] as number,
    lateClaim: row["late_claim"] as string | null,
    settledClaim: row["settled_claim"] as string | null,
    settledAs: row["settled_as"] as SettledAs | null,
    error: row["error"] as string | null,
  };
}

const updateRow = `UPDATE outlast_items SET state = ?2, holder = ?3, visible_at = ?4, claim = ?5, claim_until = ?6, is_alone = ?7,
  failures = ?8, interruptions = ?9, lonely = ?10, accepted = ?11, late = ?12, late_claim = ?13, settled_claim = ?14,
  settled_as = ?15, error = ?16, settled_at = ?17 WHERE seq = ?1`;

const startRow = `UPDATE outlast_items SET holder = ?2, claim = ?3, claim_until = ?4, is_alone = ?5, interruptions = ?6, lonely = ?7
  WHERE seq = ?1`;

/** Writes a row as the rules decided. */
export function writeRow(file: SqliteFile, before: StoredRow, row: ItemRow, now: number): void {
  const { seq } = before;
  // A start that leaves its lease as it was touches no index.
  if (
    row.claim !== null &&
    row.claim !== before.claim &&
    row.visibleAt === before.visibleAt &&
    row.state === before.state
  ) {
    const { holder, claim, claimUntil, isAlone, interruptions, lonely } = row;
    file.run(startRow, seq, holder, claim, claimUntil, isAlone ? 1 : 0, interruptions, lonely);
    return;
  }
  file.run(
    updateRow,
    seq,
    row.state,
    row.holder,
    row.visibleAt,
    row.claim,
    row.claimUntil,
    row.isAlone ? 1 : 0,
    row.failures,
    row.interruptions,
    row.lonely,
    row.accepted,
    row.late,
    row.lateClaim,
    row.settledClaim,
    row.settledAs,
    row.error,
    isSettled(row) ? now : null,
  );
}
