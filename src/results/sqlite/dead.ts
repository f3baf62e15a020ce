import type { DeadItem, ItemData } from "../types.ts";
import type { SqliteFile } from "./sqlite-file.ts";

/** One step of a long change. */
export interface Step {
  readonly changed: number;
  readonly isLast: boolean;
}

/** Dead letters in order of publishing, after an id. */
export function readDead(file: SqliteFile, after: string | undefined, limit: number): DeadItem[] {
  const sql = `SELECT id, generation, data, error, failures, interruptions, settled_at FROM outlast_items
    WHERE state = 'dead' AND seq > coalesce((SELECT seq FROM outlast_items WHERE id = ?), -1) ORDER BY seq LIMIT ?`;
  return file.all(sql, after ?? null, limit).map((row) => ({
    id: row["id"] as string,
    generation: row["generation"] as number,
    data: JSON.parse(row["data"] as string) as ItemData,
    error: (row["error"] as string | null) ?? "",
    failures: row["failures"] as number,
    interruptions: row["interruptions"] as number,
    diedAt: new Date(row["settled_at"] as number).toISOString(),
  }));
}

const revive = `UPDATE outlast_items SET state = 'pending', generation = generation + 1, visible_at = 0, holder = NULL, claim = NULL,
  claim_until = 0, is_alone = 0, failures = 0, interruptions = 0, lonely = 0, settled_claim = NULL, settled_as = NULL,
  settled_at = NULL, error = NULL`;

/** dead → pending in the next generation, some at a time; only what is dead at that moment. */
export function retryDead(file: SqliteFile, ids: readonly string[] | undefined, limit: number): Step {
  const which = ids === undefined ? "?2 IS NULL" : "id IN (SELECT value FROM json_each(?2))";
  const sql = `${revive} WHERE seq IN (SELECT seq FROM outlast_items WHERE state = 'dead' AND ${which} ORDER BY seq LIMIT ?1)`;
  const changed = file.run(sql, limit, ids === undefined ? null : JSON.stringify(ids));
  if (changed > 0) file.run("UPDATE outlast_totals SET dead = dead - ? WHERE bucket = 0", changed);
  return { changed, isLast: changed < limit };
}

/** sent → pending where no claim runs; a claim that ran out stays, to be charged. */
export function retryMissing(file: SqliteFile, limit: number): Step {
  const sql = `UPDATE outlast_items SET state = 'pending' WHERE seq IN
    (SELECT seq FROM outlast_items WHERE state = 'sent' AND (claim IS NULL OR claim_until <= ?) LIMIT ?)`;
  const changed = file.run(sql, file.now(), limit);
  return { changed, isLast: changed < limit };
}

/** Forgets publications first, so that a worker does not take what is left for drained, then items. */
export function purgeStep(file: SqliteFile, limit: number): Step {
  file.run("DELETE FROM outlast_publications");
  const counted =
    file.get(`SELECT count(*) AS n, coalesce(sum(state = 'done'), 0) AS done, coalesce(sum(state = 'dead'), 0) AS dead
    FROM (SELECT state FROM outlast_items ORDER BY seq LIMIT ${limit})`);
  const changed = Number(counted?.["n"] ?? 0);
  const isLast = changed < limit;
  file.run("DELETE FROM outlast_items WHERE seq IN (SELECT seq FROM outlast_items ORDER BY seq LIMIT ?)", limit);
  file.run(
    "UPDATE outlast_totals SET total = total - ?, done = done - ?, dead = dead - ? WHERE bucket = 0",
    changed,
    Number(counted?.["done"]),
    Number(counted?.["dead"]),
  );
  if (isLast) {
    file.run("UPDATE outlast_totals SET interruptions = 0, late = 0 WHERE bucket = 0");
    file.run("DELETE FROM outlast_totals WHERE bucket > 0");
  }
  return { changed, isLast };
}
