import { quoteName } from "../quote-name.ts";
import type { ResultsTable } from "../results-url.ts";
import type { Audit } from "../types.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import type { TableShape } from "./results-table.ts";

/** Looks at every published id once, in one statement and so in one snapshot, and trusts no total. */
export async function auditItems(
  database: PostgresDatabase,
  schema: string,
  shape: TableShape,
  table: ResultsTable,
): Promise<Audit> {
  const s = quoteName(schema);
  const isStored = `EXISTS (SELECT 1 FROM ${shape.name} AS r WHERE r.${quoteName(table.idColumn)} = i.id)`;
  const statement = `SELECT count(*)::float8 AS published, count(*) FILTER (WHERE state = 'done')::float8 AS done,
    count(*) FILTER (WHERE state = 'dead')::float8 AS dead, coalesce(sum(late), 0)::float8 AS late,
    coalesce(array_agg(id ORDER BY seq) FILTER (WHERE state <> 'dead' AND NOT (state = 'done' AND is_stored)), '{}') AS missing,
    coalesce(array_agg(id ORDER BY seq) FILTER (WHERE accepted > 1), '{}') AS duplicates,
    (SELECT count(*)::int FROM ${s}.publications WHERE closed_at IS NULL) AS "openPublications"
  FROM (SELECT seq, id, state, accepted, late, ${isStored} AS is_stored FROM ${s}.items AS i) AS item`;
  const [audit] = await database.slowQuery<Audit>("audit", statement);
  if (!audit) throw new Error("the audit has no row");
  return audit;
}
