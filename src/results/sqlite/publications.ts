import type { Item, ItemData, ItemKey, NewItem } from "../types.ts";
import { insertMany } from "./insert-many.ts";
import { pairs } from "./lease.ts";
import type { SqliteFile } from "./sqlite-file.ts";

/** Opens a publication; one of that name that was closed is open again. */
export function openPublication(file: SqliteFile, name: string): void {
  const sql = `INSERT INTO outlast_publications (name, opened_at) VALUES (?1, ?2)
    ON CONFLICT (name) DO UPDATE SET opened_at = ?2, closed_at = NULL`;
  file.run(sql, name, file.now());
}

/** Closes every open publication of that name: one row stands for them all. */
export function closePublications(file: SqliteFile, name: string): void {
  file.run("UPDATE outlast_publications SET closed_at = ? WHERE name = ? AND closed_at IS NULL", file.now(), name);
}

/** Adds what is not there yet. */
export function addItems(file: SqliteFile, items: readonly NewItem[]): number {
  const now = file.now();
  const rows = items.map(({ id, data }) => [id, JSON.stringify(data), now]);
  const added = insertMany(file, "outlast_items (id, data, added_at)", 3, rows);
  if (added > 0) file.run("UPDATE outlast_totals SET total = total + ? WHERE bucket = 0", added);
  return added;
}

/** Items that the separate broker has not confirmed, by the index; the position is the last row's place in it. */
export function pendingItems(
  file: SqliteFile,
  after: string | undefined,
  limit: number,
): { items: Item[]; next: string | undefined } {
  const [visibleAt, seq] = after === undefined ? [-1, -1] : after.split(":").map(Number);
  const sql = `SELECT seq, visible_at, id, generation, data FROM outlast_items
    WHERE state = 'pending' AND (visible_at, seq) > (?, ?) ORDER BY visible_at, seq LIMIT ?`;
  const rows = file.all(sql, visibleAt ?? -1, seq ?? -1, limit);
  const last = rows.at(-1);
  return {
    items: rows.map((row) => ({
      id: row["id"] as string,
      generation: row["generation"] as number,
      data: JSON.parse(row["data"] as string) as ItemData,
    })),
    next: last && rows.length === limit ? `${String(last["visible_at"])}:${String(last["seq"])}` : undefined,
  };
}

/** pending → sent, where it is still pending in that generation: a retry meanwhile has made it pending anew. */
export function markSent(file: SqliteFile, items: readonly ItemKey[]): void {
  const sql = `UPDATE outlast_items SET state = 'sent'
    WHERE state = 'pending' AND (id, generation) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`;
  file.run(sql, pairs(items));
}

const drained = `SELECT EXISTS (SELECT 1 FROM outlast_publications)
  AND NOT EXISTS (SELECT 1 FROM outlast_publications WHERE closed_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM outlast_items WHERE state = 'pending')
  AND NOT EXISTS (SELECT 1 FROM outlast_items WHERE state = 'sent') AS drained`;

/** By id and in one statement: counts taken one after the other can agree by accident. */
export function isDrained(file: SqliteFile): boolean {
  return file.get(drained)?.["drained"] === 1;
}
