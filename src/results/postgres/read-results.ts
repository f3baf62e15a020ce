import { quoteName } from "../quote-name.ts";
import type { ResultsTable } from "../results-url.ts";
import type { JsonValue } from "../types.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { resultExpression, type TableShape } from "./results-table.ts";

const pageRows = 2_000;

/**
 * All rows of the user's table in order of id. A page at a time rather than one snapshot: a slow reader must not keep the server from
 * cleaning up.
 */
export async function* readResults(
  database: PostgresDatabase,
  shape: TableShape,
  table: ResultsTable,
): AsyncIterable<{ readonly id: string; readonly result: JsonValue }> {
  const id = quoteName(table.idColumn);
  const statement = `SELECT r.${id} AS id, ${resultExpression(shape, table, "r")} AS result FROM ${shape.name} AS r
  WHERE $1::text IS NULL OR r.${id} > $1 ORDER BY r.${id} LIMIT ${pageRows}`;
  for (let after: string | undefined; ; ) {
    const rows: readonly { id: string; result: string | null }[] = await database.query("results", statement, [
      after ?? null,
    ]);
    for (const row of rows) yield { id: row.id, result: parseLoosely(row.result) };
    after = rows.at(-1)?.id;
    if (after === undefined || rows.length < pageRows) return;
  }
}

/** Rows of the user's own making may hold anything. */
function parseLoosely(text: string | null): JsonValue {
  if (text === null) return null;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
