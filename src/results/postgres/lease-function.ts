import { quoteName } from "../quote-name.ts";

/**
 * Leases items: those whose time has come first (a lost worker's, a retry's), then the rest in order of publishing. The planner is
 * told to walk the two indexes: with a limit it does not know it might sort a million rows instead.
 *
 * What was leased leaves dead entries at the front of both indexes until the next vacuum, and stepping over them would make every lease
 * slower than the one before. So a caller who leased a moment ago says where it was, and only fresh items after that place are looked at,
 * unless they are too few. A caller looks from the front once a second at least.
 *
 * The commit need not wait for the disk: a lease that a crash of the server forgets is an item that is claimable again.
 */
export function leaseFunction(schema: string): string {
  const s = quoteName(schema);
  const lease = (chosen: string) => `UPDATE ${s}.items AS item
    SET holder = taker, is_started = false, visible_at = clock_timestamp() + lease_ms * interval '1 ms'
    WHERE item.id = ANY (ARRAY(${chosen}))
    RETURNING item.seq, item.id, item.generation, item.data`;
  return `CREATE FUNCTION ${s}.lease_items(how_many integer, lease_ms double precision, taker text, after_seq bigint)
RETURNS TABLE (seq bigint, id text, generation integer, data json)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
#variable_conflict use_column
DECLARE
  taken integer := 0;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  IF after_seq IS NOT NULL THEN
    RETURN QUERY ${lease(`SELECT i.id FROM ${s}.items AS i
      WHERE i.state = 'pending' AND i.visible_at IS NULL AND i.seq > after_seq
      ORDER BY i.seq LIMIT how_many FOR NO KEY UPDATE SKIP LOCKED`)};
    GET DIAGNOSTICS taken = ROW_COUNT;
  END IF;
  IF taken < how_many THEN
    RETURN QUERY ${lease(`SELECT found.id FROM (
      SELECT * FROM (SELECT i.id FROM ${s}.items AS i WHERE i.state = 'pending' AND i.visible_at <= now()
        ORDER BY i.visible_at LIMIT how_many FOR NO KEY UPDATE SKIP LOCKED) AS due
      UNION ALL
      SELECT * FROM (SELECT i.id FROM ${s}.items AS i WHERE i.state = 'pending' AND i.visible_at IS NULL
        ORDER BY i.seq LIMIT how_many FOR NO KEY UPDATE SKIP LOCKED) AS ready
    ) AS found LIMIT how_many - taken`)};
  END IF;
END $$`;
}
