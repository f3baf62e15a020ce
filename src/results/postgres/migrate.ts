import { OutlastError } from "../../core/index.ts";
import { quoteName } from "../quote-name.ts";
import type { PostgresDatabase, Query } from "./postgres-database.ts";
import { quoteText } from "./quote-text.ts";

/** The statements that lead from one version of a schema to the next. */
export type Migration = readonly string[];

/** One of the things that our schema may hold, with a version of its own. */
export interface SchemaPart {
  readonly schema: string;
  readonly name: "ledger" | "queue";
  readonly migrations: readonly Migration[];
}

/** The statements that bring `part` up to date; none when it is. */
export async function missingStatements(query: Query, part: SchemaPart): Promise<readonly string[]> {
  const version = await readVersion(query, part);
  const wanted = part.migrations.length;
  if (version > wanted) {
    throw new OutlastError(
      "OUTLAST_DATABASE_UNSUITABLE",
      `the ${part.name} in schema ${part.schema} has version ${version}; this outlast knows up to ${wanted}`,
      { operation: "prepare", target: part.schema, hint: "use the newer outlast that made it, everywhere" },
    );
  }
  if (version === wanted) return [];
  const s = quoteName(part.schema);
  const [exists] = await query<{ schema: boolean; meta: boolean }>(
    "SELECT to_regnamespace($1) IS NOT NULL AS schema, to_regclass($2) IS NOT NULL AS meta",
    [s, `${s}.meta`],
  );
  return [
    ...(exists?.schema ? [] : [`CREATE SCHEMA ${s}`]),
    ...(exists?.meta ? [] : [`CREATE TABLE ${s}.meta (name text PRIMARY KEY, value text NOT NULL)`]),
    ...part.migrations.slice(version).flat(),
    `INSERT INTO ${s}.meta (name, value) VALUES (${quoteText(versionName(part))}, '${wanted}')
ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  ];
}

/** Brings `part` up to date, and then does `more` in the same transaction. Many may try at once: one does it. */
export async function migrate(
  database: PostgresDatabase,
  part: SchemaPart,
  more: (query: Query) => Promise<void>,
): Promise<void> {
  await database.transaction("prepare", async (query) => {
    await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`outlast ${part.schema}`]);
    for (const statement of await missingStatements(query, part)) await query(statement);
    await more(query);
  });
}

async function readVersion(query: Query, part: SchemaPart): Promise<number> {
  const s = quoteName(part.schema);
  const [meta] = await query<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [`${s}.meta`]);
  if (!meta?.exists) return 0;
  const [row] = await query<{ value: string }>(`SELECT value FROM ${s}.meta WHERE name = $1`, [versionName(part)]);
  return Number(row?.value ?? 0);
}

function versionName(part: SchemaPart): string {
  return `${part.name}-version`;
}
