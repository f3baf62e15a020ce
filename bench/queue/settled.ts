import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";

/** When the first and the last item of the middle eight tenths were settled, in milliseconds, and how many those are. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly items: number;
}

/** Items a second. Start and end are left out alike for all: programs start at different moments, and the last chunks are few. */
export function rateOf({ fromMs, toMs, items }: Span): number {
  return (items * 1000) / (toMs - fromMs);
}

/** From the column with the time of each settlement in milliseconds. */
export function sqliteSpan(path: string, table: string, column: string, count: number): Span {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const sql = `SELECT ${column} AS at FROM ${table} WHERE ${column} IS NOT NULL ORDER BY ${column} LIMIT 1 OFFSET ?`;
    const nth = (n: number) => Number(db.prepare(sql).get(n)?.["at"]);
    return spanOf(count, nth(tenth(count)), nth(count - 1 - tenth(count)));
  } finally {
    db.close();
  }
}

/** The same from a column of type timestamptz. */
export async function postgresSpan(url: string, table: string, column: string, count: number): Promise<Span> {
  const db = new Client({ connectionString: url });
  await db.connect();
  try {
    const nth = async (n: number) => {
      const { rows } = await db.query<{ at: string }>(
        `SELECT extract(epoch FROM ${column}) * 1000 AS at FROM ${table} WHERE ${column} IS NOT NULL
          ORDER BY ${column} LIMIT 1 OFFSET ${n}`,
      );
      return Number(rows[0]?.at);
    };
    return spanOf(count, await nth(tenth(count)), await nth(count - 1 - tenth(count)));
  } finally {
    await db.end();
  }
}

function tenth(count: number): number {
  return Math.floor(count / 10);
}

function spanOf(count: number, fromMs: number, toMs: number): Span {
  if (!(toMs > fromMs)) throw new Error(`the items were not settled one after the other: ${fromMs} to ${toMs}`);
  return { fromMs, toMs, items: count - 2 * tenth(count) };
}
