import { quoteName } from "../quote-name.ts";
import { quoteText } from "./quote-text.ts";

/** The statements of a ledger in one schema, by what they do. Lists come as arrays, so that a chunk is one round trip. */
export function ledgerStatements(schema: string) {
  const s = quoteName(schema);
  const notify = `pg_notify(${quoteText(schema)}, '')`;
  /** Rows are locked in order of id before they are changed, so that two lists never wait for each other in a circle. */
  const locked = (where: string) =>
    `SELECT i.id FROM ${s}.items AS i JOIN unnest($1::text[], $2::int[]) AS asked (id, generation) USING (id, generation)
    WHERE ${where} ORDER BY i.id FOR NO KEY UPDATE OF i`;
  const anew = `claim = NULL, is_started = false, is_alone = false, holder = NULL, visible_at = NULL`;
  return {
    openPublication: `INSERT INTO ${s}.publications (name) VALUES ($1)`,
    closePublications: `UPDATE ${s}.publications SET closed_at = now() WHERE name = $1 AND closed_at IS NULL`,
    add: `WITH added AS (
      INSERT INTO ${s}.items (id, data)
      SELECT given.id, given.data::json FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (id, data, ord) ORDER BY given.ord
      ON CONFLICT (id) DO NOTHING RETURNING 1
    ), counted AS (SELECT count(*) AS added FROM added),
    tallied AS (INSERT INTO ${s}.tally (added) SELECT added FROM counted WHERE added > 0)
    SELECT added::int AS added, CASE WHEN added > 0 THEN ${notify} END FROM counted`,
    pending: `SELECT seq, id, generation, data FROM (
      (SELECT seq, id, generation, data FROM ${s}.items WHERE state = 'pending' AND visible_at IS NULL AND seq > $1 ORDER BY seq LIMIT $2)
      UNION ALL
      (SELECT seq, id, generation, data FROM ${s}.items WHERE state = 'pending' AND visible_at IS NOT NULL AND seq > $1 ORDER BY seq LIMIT $2)
    ) AS found ORDER BY seq LIMIT $2`,
    markSent: `WITH found AS MATERIALIZED (${locked("i.state = 'pending'")})
    UPDATE ${s}.items AS item SET state = 'sent' FROM found WHERE item.id = found.id`,
    lease: `SELECT seq, id, generation, data FROM ${s}.lease_items($1, $2, $3, $4) ORDER BY seq`,
    renew: `WITH quick AS (SELECT set_config('synchronous_commit', 'off', true)),
    found AS MATERIALIZED (${locked("i.holder = $4 AND i.state IN ('pending', 'sent')")})
    UPDATE ${s}.items AS item SET visible_at = clock_timestamp() + $3::double precision * interval '1 ms'
    FROM found, quick WHERE item.id = found.id RETURNING item.id, item.generation`,
    release: `WITH found AS MATERIALIZED (${locked("i.holder = $3 AND NOT i.is_started")}),
    freed AS (UPDATE ${s}.items AS item SET holder = NULL, visible_at = NULL FROM found WHERE item.id = found.id RETURNING 1)
    SELECT ${notify} FROM (SELECT count(*) AS n FROM freed) AS counted WHERE n > 0`,
    start: `SELECT * FROM ${s}.start_items($1, $2, $3, $4, $5, $6, $7, $8)`,
    next: `SELECT EXISTS (SELECT 1 FROM ${s}.items WHERE state = 'pending' AND visible_at IS NULL) AS "isReady",
      (SELECT extract(epoch FROM min(visible_at) - clock_timestamp()) * 1000 FROM ${s}.items
        WHERE visible_at IS NOT NULL AND state = 'pending')::double precision AS "inMs"`,
    isDrained: `SELECT EXISTS (SELECT 1 FROM ${s}.publications)
      AND NOT EXISTS (SELECT 1 FROM ${s}.publications WHERE closed_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM ${s}.items WHERE state = 'pending' AND visible_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM ${s}.items WHERE visible_at IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM ${s}.items WHERE state = 'sent') AS "isDrained"`,
    dead: `SELECT seq, id, generation, data, error, failures, interruptions, settled_at AS "diedAt" FROM ${s}.items
      WHERE state = 'dead' AND seq > coalesce((SELECT seq FROM ${s}.items WHERE id = $1), 0) ORDER BY seq LIMIT $2`,
    retry: `WITH found AS MATERIALIZED (
      SELECT id FROM ${s}.items WHERE state = 'dead' AND ($1::text[] IS NULL OR id = ANY ($1)) ORDER BY id FOR NO KEY UPDATE
    ), revived AS (
      UPDATE ${s}.items AS item SET state = 'pending', generation = generation + 1, failures = 0, interruptions = 0, lonely = 0,
        settled_at = NULL, settled_claim = NULL, settled_as = NULL, error = NULL, ${anew}
      FROM found WHERE item.id = found.id RETURNING 1
    ), counted AS (SELECT count(*) AS n FROM revived),
    tallied AS (INSERT INTO ${s}.tally (dead) SELECT -n FROM counted WHERE n > 0)
    SELECT n::int AS n, CASE WHEN n > 0 THEN ${notify} END FROM counted`,
    retryMissing: `WITH found AS MATERIALIZED (
      SELECT id FROM ${s}.items WHERE state = 'sent' AND NOT (is_started AND visible_at > now()) ORDER BY id FOR NO KEY UPDATE
    ), renewed AS (
      UPDATE ${s}.items AS item SET state = 'pending' FROM found WHERE item.id = found.id RETURNING 1
    ) SELECT count(*)::int AS n FROM renewed`,
  };
}
