import type { Item, ItemData, ItemKey } from "../types.ts";
import type { SqliteFile } from "./sqlite-file.ts";

// 0 stands for "at once", so fresh items are in order of publishing. What came back or waited is older: it goes first.
const findReturned = `SELECT seq, id, generation, data FROM outlast_items
  WHERE state = 'pending' AND visible_at BETWEEN 1 AND ? ORDER BY visible_at, seq LIMIT ?`;
const findFresh = `SELECT seq, id, generation, data FROM outlast_items
  WHERE state = 'pending' AND visible_at = 0 ORDER BY seq LIMIT ?`;
const leaseRow = "UPDATE outlast_items SET holder = ?2, visible_at = ?3, claim_until = 0 WHERE seq = ?1";

/**
 * Leases up to `max` claimable items. A claim that is there has run out: it stays to be charged by the next start, and can no longer
 * be renewed.
 */
export function leaseItems(file: SqliteFile, max: number, leaseMs: number, holder: string): Item[] {
  const now = file.now();
  const rows = file.all(findReturned, now, max);
  if (rows.length < max) rows.push(...file.all(findFresh, max - rows.length));
  rows.sort((a, b) => Number(a["seq"]) - Number(b["seq"]));
  return rows.map((row) => {
    // Row by row: RETURNING, and a list in the WHERE, each build a table of their own in every call.
    file.run(leaseRow, row["seq"] as number, holder, now + leaseMs);
    return {
      id: row["id"] as string,
      generation: row["generation"] as number,
      data: JSON.parse(row["data"] as string) as ItemData,
    };
  });
}

const matches = "(id, generation) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))";
const renew = `UPDATE outlast_items SET visible_at = ?3, claim_until = CASE WHEN claim_until > 0 THEN ?3 ELSE 0 END
  WHERE ${matches} AND holder = ?2 AND state IN ('pending', 'sent') RETURNING id`;
const release = `UPDATE outlast_items SET holder = NULL, visible_at = 0
  WHERE ${matches} AND holder = ?2 AND claim_until = 0 AND state IN ('pending', 'sent')`;

/** Gives leases and claims more time; returns the items that are not the holder's. */
export function renewItems(file: SqliteFile, items: readonly ItemKey[], leaseMs: number, holder: string): ItemKey[] {
  const renewed = new Set(file.all(renew, pairs(items), holder, file.now() + leaseMs).map((row) => row["id"]));
  return items.filter((item) => !renewed.has(item.id)).map(({ id, generation }) => ({ id, generation }));
}

/** Gives leases back; what was started is left to its settlement. */
export function releaseItems(file: SqliteFile, items: readonly ItemKey[], holder: string): void {
  file.run(release, pairs(items), holder);
}

/** Whether a lease would find something. */
export function hasClaimable(file: SqliteFile): boolean {
  return (
    file.get("SELECT 1 FROM outlast_items WHERE state = 'pending' AND visible_at <= ? LIMIT 1", file.now()) !==
    undefined
  );
}

/** Items as the JSON that `matches` reads. */
export function pairs(items: readonly ItemKey[]): string {
  return JSON.stringify(items.map((item) => [item.id, item.generation]));
}
