import { quoteName } from "../quote-name.ts";
import type { Depth } from "../types.ts";
import type { PostgresDatabase } from "./postgres-database.ts";

/** More rows than this in the tally are summed up into one. */
const manyRows = 5_000;

interface DepthRow {
  readonly leased: number;
  readonly delayed: number;
  readonly dead: number;
  readonly done: number;
  readonly total: number;
  readonly oldest: number | null;
  readonly rate: number;
  readonly open: number;
  readonly interruptions: number;
  readonly late: number;
  readonly rows: number;
}

/** How much there is, in one snapshot: settled items from the tally, what is in hands counted (it is little), ready is the rest. */
export async function readDepth(database: PostgresDatabase, schema: string): Promise<Depth> {
  const [row] = await database.query<DepthRow>("depth", depthStatement(schema), []);
  if (!row) throw new Error("the depth has no row");
  const { leased, delayed, dead, done, total, rate, interruptions, late } = row;
  if (row.rows > manyRows) await database.query("sumUp", sumUpStatement(schema), []);
  return {
    ready: total - done - dead - leased - delayed,
    leased,
    delayed,
    dead,
    done,
    total,
    oldestReadySeconds: row.oldest === null ? undefined : Math.max(0, row.oldest),
    ratePerMinute: rate,
    openPublications: row.open,
    interruptions,
    late,
  };
}

function depthStatement(schema: string): string {
  const s = quoteName(schema);
  const first = (where: string) => `(SELECT added_at FROM ${s}.items WHERE ${where} ORDER BY seq LIMIT 1)`;
  return `SELECT held.*, totals.*,
    extract(epoch FROM now() - least(${first("state = 'pending' AND visible_at IS NULL")},
      ${first("state = 'sent' AND visible_at IS NULL")}, held.first_due))::double precision AS oldest,
    (SELECT count(*)::int FROM ${s}.publications WHERE closed_at IS NULL) AS open
  FROM (
    SELECT count(*) FILTER (WHERE visible_at > now() AND holder IS NOT NULL)::int AS leased,
      count(*) FILTER (WHERE visible_at > now() AND holder IS NULL)::int AS delayed,
      min(added_at) FILTER (WHERE visible_at <= now()) AS first_due
    FROM ${s}.items WHERE visible_at IS NOT NULL
  ) AS held, (
    SELECT coalesce(sum(added), 0)::float8 AS total, coalesce(sum(done), 0)::float8 AS done, coalesce(sum(dead), 0)::float8 AS dead,
      coalesce(sum(interruptions), 0)::float8 AS interruptions, coalesce(sum(late), 0)::float8 AS late,
      coalesce(sum(settled) FILTER (WHERE at > now() - interval '1 minute'), 0)::float8 AS rate, count(*)::int AS rows
    FROM ${s}.tally
  ) AS totals`;
}

/** What is older than the rate looks back becomes one row; rows that another does this with at the same moment are left to it. */
function sumUpStatement(schema: string): string {
  const s = quoteName(schema);
  return `WITH old AS (
    DELETE FROM ${s}.tally WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${s}.tally WHERE at < now() - interval '2 minutes' FOR UPDATE SKIP LOCKED))
    RETURNING *
  ) INSERT INTO ${s}.tally (at, added, done, dead, settled, interruptions, late)
  SELECT max(at), sum(added), sum(done), sum(dead), sum(settled), sum(interruptions), sum(late) FROM old HAVING count(*) > 0`;
}
