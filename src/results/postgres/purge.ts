import { quoteName } from "../quote-name.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

/** Forgets publications, items and totals in one transaction; the user's table is not touched. */
export async function purgeItems(database: PostgresDatabase, schema: string): Promise<number> {
  const s = quoteName(schema);
  const statement = `WITH forgotten AS (DELETE FROM ${s}.publications), summed AS (DELETE FROM ${s}.tally),
    gone AS (DELETE FROM ${s}.items RETURNING 1) SELECT count(*)::float8 AS n FROM gone`;
  const [row] = await database.slowQuery<{ n: number }>("purge", statement);
  return row?.n ?? 0;
}
