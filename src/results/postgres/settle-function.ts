import { quoteName } from "../quote-name.ts";
import { quoteText } from "./quote-text.ts";

/**
 * The rules of settling (`../rules.ts`) as one statement's work; the caller stores the results that it marks in the same statement. Rows
 * are locked in order of id, as in a start. An item is settled once a call: the caller sees to that. A chunk of results from one
 * running claim, which is nearly every one, takes a short way.
 */
export function settleFunction(schema: string): string {
  const s = quoteName(schema);
  return `CREATE FUNCTION ${s}.settle_items(ids text[], generations integer[], claims text[], endings text[],
  errors text[], delays double precision[], taker text, attempts integer)
RETURNS TABLE (ord bigint, outcome text, is_dead boolean, is_stored boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  t timestamptz;
  plain integer;
BEGIN
  SELECT count(*) FILTER (WHERE locked.is_plain) INTO plain FROM (
    SELECT i.claim = claims[1] AND i.accepted = 0 AND i.state IN ('pending', 'sent')
      AND i.settled_claim IS DISTINCT FROM claims[1] AS is_plain
    FROM ${s}.items AS i WHERE i.id = ANY (ids) ORDER BY i.id FOR NO KEY UPDATE
  ) AS locked;
  t := clock_timestamp();
  IF plain = cardinality(ids) AND claims[1] = ALL (claims) AND 'result' = ALL (endings) THEN
    UPDATE ${s}.items AS i SET state = 'done', accepted = 1, error = NULL, settled_at = t, settled_claim = claims[1],
      settled_as = 'result', claim = NULL, is_started = false, is_alone = false, holder = NULL, visible_at = NULL
    WHERE i.id = ANY (ids);
    INSERT INTO ${s}.tally (done, settled) VALUES (plain, plain);
    RETURN QUERY SELECT n::bigint, 'accepted'::text, false, true FROM generate_series(1, plain) AS n;
    RETURN;
  END IF;
  RETURN QUERY
  WITH decided AS MATERIALIZED (
    SELECT asked.*, i.holder IS NOT DISTINCT FROM taker AS is_ours, i.settled_as = 'dead' AS was_dead,
      i.state = 'dead' AS is_in_dead,
      CASE
        WHEN i.id IS NULL THEN 'refused'
        WHEN i.settled_claim = asked.claim AND CASE asked.ending
          WHEN 'result' THEN i.settled_as = 'result'
          WHEN 'hand-back' THEN i.settled_as = 'hand-back'
          ELSE i.settled_as IN ('failure', 'dead') END THEN 'repeated'
        WHEN asked.ending = 'result' AND i.accepted > 0 THEN
          CASE WHEN i.late_claim = asked.claim THEN 'late-again' ELSE 'late' END
        WHEN asked.ending = 'result' THEN 'result'
        WHEN i.state IN ('done', 'dead') OR i.claim IS DISTINCT FROM asked.claim
          OR i.generation <> asked.generation THEN 'refused'
        WHEN asked.ending = 'hand-back' THEN 'hand-back'
        WHEN asked.ending = 'permanent' OR i.failures + 1 >= attempts THEN 'dead'
        ELSE 'failure'
      END AS decision
    FROM unnest(ids, generations, claims, endings, errors, delays)
      WITH ORDINALITY AS asked (id, generation, claim, ending, error, delay_ms, ord)
    LEFT JOIN ${s}.items AS i ON i.id = asked.id
  ), written AS (
    UPDATE ${s}.items AS i SET
      state = CASE d.decision WHEN 'result' THEN 'done' WHEN 'dead' THEN 'dead' ELSE i.state END,
      accepted = i.accepted + (d.decision = 'result')::int,
      late = i.late + (d.decision = 'late')::int,
      late_claim = CASE WHEN d.decision = 'late' THEN d.claim ELSE i.late_claim END,
      failures = i.failures + (d.decision IN ('failure', 'dead'))::int,
      error = CASE d.decision WHEN 'result' THEN NULL WHEN 'failure' THEN d.error WHEN 'dead' THEN d.error ELSE i.error END,
      settled_at = CASE WHEN d.decision IN ('result', 'dead') THEN t ELSE i.settled_at END,
      settled_claim = CASE WHEN d.decision = 'late' THEN i.settled_claim ELSE d.claim END,
      settled_as = CASE WHEN d.decision = 'late' THEN i.settled_as ELSE d.decision END,
      claim = CASE WHEN d.decision = 'late' THEN i.claim END,
      is_started = i.is_started AND d.decision = 'late',
      is_alone = i.is_alone AND d.decision = 'late',
      -- Another worker may have leased it meanwhile: then only the claim ends, and its lease stays.
      holder = CASE WHEN d.decision IN ('result', 'dead') OR (d.is_ours AND d.decision <> 'late') THEN NULL ELSE i.holder END,
      visible_at = CASE
        WHEN d.decision IN ('result', 'dead') THEN NULL
        WHEN NOT d.is_ours OR d.decision = 'late' THEN i.visible_at
        WHEN d.decision = 'failure' AND d.delay_ms > 0 THEN t + d.delay_ms * interval '1 ms'
      END
    FROM decided AS d
    WHERE i.id = d.id AND d.decision IN ('result', 'late', 'failure', 'dead', 'hand-back')
  ), tallied AS (
    INSERT INTO ${s}.tally (done, dead, settled, late)
    SELECT count(*) FILTER (WHERE d.decision = 'result'),
      count(*) FILTER (WHERE d.decision = 'dead') - count(*) FILTER (WHERE d.decision = 'result' AND d.is_in_dead),
      count(*) FILTER (WHERE d.decision <> 'late' AND NOT d.is_in_dead), count(*) FILTER (WHERE d.decision = 'late')
    FROM decided AS d WHERE d.decision IN ('result', 'dead', 'late') HAVING count(*) > 0
  )
  SELECT d.ord,
    CASE d.decision WHEN 'refused' THEN 'refused' WHEN 'repeated' THEN 'repeated' WHEN 'late' THEN 'late'
      WHEN 'late-again' THEN 'late' ELSE 'accepted' END,
    d.decision = 'dead' OR (d.decision = 'repeated' AND d.was_dead AND d.ending NOT IN ('result', 'hand-back')),
    d.decision = 'result'
  FROM decided AS d ORDER BY d.ord;
  IF EXISTS (SELECT 1 FROM unnest(endings) AS ending WHERE ending <> 'result') THEN
    PERFORM pg_notify(${quoteText(schema)}, '');
  END IF;
END $$`;
}
