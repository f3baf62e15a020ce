import { quoteName } from "../quote-name.ts";

/**
 * The rules of starting (`../rules.ts`) as one statement's work, so that a start is one round trip. A test holds the two against each
 * other on random rows.
 *
 * Rows are locked first, in order of id, so that two chunks never wait for each other in a circle; the statement after that sees them
 * as they are then. A chunk with nothing unusual in it, which is nearly every one, takes a short way. `repeat`: the reply to this very start was lost, and it is asked again.
 *
 * The commit need not wait for the disk: a start that a crash of the server forgets costs at most a second run of the handler; its result
 * is still accepted once.
 */
export function startFunction(schema: string): string {
  const s = quoteName(schema);
  return `CREATE FUNCTION ${s}.start_items(ids text[], generations integer[], new_claim text, taker text,
  lease_ms double precision, idle boolean, suspect_after integer, lonely_limit integer)
RETURNS TABLE (ord bigint, outcome text, failures integer, delay_ms double precision)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  t timestamptz;
  plain integer;
  lease interval := lease_ms * interval '1 ms';
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT count(*) FILTER (WHERE locked.is_plain) INTO plain FROM (
    SELECT i.generation = 0 AND i.state IN ('pending', 'sent') AND i.claim IS NULL AND i.failures = 0
      AND i.interruptions < suspect_after AND (i.holder = taker OR (i.holder IS NULL AND i.visible_at IS NULL)) AS is_plain
    FROM ${s}.items AS i WHERE i.id = ANY (ids) ORDER BY i.id FOR NO KEY UPDATE
  ) AS locked;
  t := clock_timestamp();
  IF plain = cardinality(ids) AND 0 = ALL (generations) THEN
    UPDATE ${s}.items AS i SET claim = new_claim, is_started = true, is_alone = false, holder = taker,
      visible_at = CASE WHEN i.holder = taker AND i.visible_at > t + lease / 2 THEN i.visible_at ELSE t + lease END
    WHERE i.id = ANY (ids);
    RETURN QUERY SELECT n::bigint, 'started'::text, 0, NULL::double precision FROM generate_series(1, plain) AS n;
    RETURN;
  END IF;
  RETURN QUERY
  WITH found AS MATERIALIZED (
    SELECT asked.ord, i.id, i.holder, i.visible_at, i.is_started, i.is_alone, i.failures,
      (i.claim IS NOT NULL)::int AS charge,
      i.interruptions + (i.claim IS NOT NULL)::int AS interruptions,
      i.lonely + (i.claim IS NOT NULL AND i.is_alone)::int AS lonely,
      CASE
        WHEN i.id IS NULL THEN 'unknown'
        WHEN i.state IN ('done', 'dead') OR i.generation <> asked.generation THEN 'settled'
        WHEN i.claim = new_claim AND i.is_started AND i.holder = taker THEN 'repeat'
        WHEN i.is_started AND i.visible_at > t THEN 'busy'
        WHEN i.holder IS DISTINCT FROM taker AND i.visible_at > t THEN 'busy'
        WHEN i.claim IS NOT NULL AND i.lonely + i.is_alone::int >= lonely_limit
          THEN CASE WHEN row_number() OVER same = 1 THEN 'dies' ELSE 'settled' END
        WHEN row_number() OVER same > 1 THEN 'twice'
        ELSE 'free'
      END AS kind
    FROM unnest(ids, generations) WITH ORDINALITY AS asked (id, generation, ord)
    LEFT JOIN ${s}.items AS i ON i.id = asked.id
    WINDOW same AS (PARTITION BY asked.id, asked.generation ORDER BY asked.ord)
  ), alone AS (
    SELECT CASE WHEN idle THEN coalesce(
      min(ord) FILTER (WHERE kind = 'repeat' AND is_alone),
      min(ord) FILTER (WHERE kind = 'free' AND interruptions >= suspect_after)) END AS ord
    FROM found
  ), decided AS MATERIALIZED (
    SELECT found.*, CASE
        WHEN kind = 'repeat' THEN CASE WHEN is_alone THEN 'repeat-alone' ELSE 'repeat' END
        WHEN kind <> 'free' THEN kind
        WHEN found.ord = alone.ord THEN 'started-alone'
        WHEN alone.ord IS NOT NULL THEN 'handed-back'
        WHEN interruptions >= suspect_after THEN 'must-wait'
        ELSE 'started'
      END AS decision
    FROM found CROSS JOIN alone
  ), written AS (
    UPDATE ${s}.items AS i SET
      -- Handing back charges nothing: a lost claim stays, for the start that follows.
      claim = CASE WHEN d.decision IN ('started', 'started-alone') THEN new_claim WHEN d.decision = 'handed-back' THEN i.claim END,
      is_started = d.decision IN ('started', 'started-alone'),
      is_alone = d.decision = 'started-alone' OR (d.decision = 'handed-back' AND i.is_alone),
      interruptions = CASE WHEN d.decision = 'handed-back' THEN i.interruptions ELSE d.interruptions END,
      lonely = CASE WHEN d.decision = 'handed-back' THEN i.lonely ELSE d.lonely END,
      holder = CASE WHEN d.decision IN ('started', 'started-alone') THEN taker END,
      visible_at = CASE
        WHEN d.decision NOT IN ('started', 'started-alone') THEN NULL
        -- A fresh lease is long enough, for renewals come; left as it is no index is written.
        WHEN i.holder = taker AND i.visible_at > t + lease / 2 THEN i.visible_at
        ELSE t + lease END,
      state = CASE WHEN d.decision = 'dies' THEN 'dead' ELSE i.state END,
      settled_at = CASE WHEN d.decision = 'dies' THEN t ELSE i.settled_at END,
      settled_claim = CASE WHEN d.decision = 'dies' THEN NULL ELSE i.settled_claim END,
      settled_as = CASE WHEN d.decision = 'dies' THEN 'dead' ELSE i.settled_as END,
      error = CASE WHEN d.decision = 'dies' THEN format(
        'its worker was lost %s times while it ran, %s times with nothing else running', d.interruptions, d.lonely)
        ELSE i.error END
    FROM decided AS d
    WHERE i.id = d.id
      AND (d.decision IN ('started', 'started-alone', 'dies') OR (d.decision = 'handed-back' AND d.holder = taker))
  ), tallied AS (
    INSERT INTO ${s}.tally (interruptions, dead, settled)
    SELECT sum(d.charge), count(*) FILTER (WHERE d.decision = 'dies'), count(*) FILTER (WHERE d.decision = 'dies')
    FROM decided AS d
    WHERE d.charge > 0 AND d.decision IN ('started', 'started-alone', 'dies')
    HAVING count(*) > 0
  )
  SELECT d.ord, d.decision, d.failures, CASE
      WHEN d.decision = 'busy' THEN extract(epoch FROM d.visible_at - t) * 1000
      WHEN d.decision = 'twice' THEN lease_ms
    END::double precision
  FROM decided AS d ORDER BY d.ord;
END $$`;
}
