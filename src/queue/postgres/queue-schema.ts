import { quoteName } from "../../results/index.ts";
import type { Migration } from "../../results/postgres/index.ts";

/**
 * What our schema holds for a queue whose results are elsewhere, version by version. `visible_at` is null when a message is claimable
 * at once. A message is keyed by its generation, too: one that is still leased must not swallow the next life of its item.
 */
export function queueMigrations(schema: string): readonly Migration[] {
  const s = quoteName(schema);
  return [
    [
      `CREATE TABLE ${s}.messages (
  seq bigint GENERATED ALWAYS AS IDENTITY,
  visible_at timestamptz,
  generation integer NOT NULL,
  id text NOT NULL,
  receipt text,
  data json NOT NULL,
  PRIMARY KEY (id, generation)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05)`,
      `CREATE INDEX messages_ready ON ${s}.messages (seq) WHERE visible_at IS NULL`,
      `CREATE INDEX messages_held ON ${s}.messages (visible_at) WHERE visible_at IS NOT NULL`,
      pullFunction(s),
    ],
  ];
}

/**
 * Leases messages, those whose time has come first. As with a ledger's items the planner is told to walk the indexes, and the commit
 * need not wait for the disk: a lease that a crash forgets is a message that is delivered again.
 */
function pullFunction(s: string): string {
  return `CREATE FUNCTION ${s}.pull_messages(how_many integer, lease_ms double precision, taker text)
RETURNS TABLE (seq bigint, id text, generation integer, data json, receipt text)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
#variable_conflict use_column
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  RETURN QUERY
  UPDATE ${s}.messages AS message
  SET receipt = taker || '.' || message.seq, visible_at = clock_timestamp() + lease_ms * interval '1 ms'
  WHERE message.ctid = ANY (ARRAY(
    SELECT found.ctid FROM (
      SELECT * FROM (SELECT m.ctid FROM ${s}.messages AS m WHERE m.visible_at <= now()
        ORDER BY m.visible_at LIMIT how_many FOR NO KEY UPDATE SKIP LOCKED) AS due
      UNION ALL
      SELECT * FROM (SELECT m.ctid FROM ${s}.messages AS m WHERE m.visible_at IS NULL
        ORDER BY m.seq LIMIT how_many FOR NO KEY UPDATE SKIP LOCKED) AS ready
    ) AS found LIMIT how_many))
  RETURNING message.seq, message.id, message.generation, message.data, message.receipt;
END $$`;
}
