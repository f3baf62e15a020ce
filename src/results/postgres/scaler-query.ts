import { quoteName } from "../quote-name.ts";

/** The schema that holds our tables. */
export const defaultSchema = "outlast";

/**
 * One line of SQL for an autoscaler (KEDA's `postgresql`): how many items are ready or in a worker's hands, as one integer, never null.
 * Ready ones alone would let the last busy workers be scaled away.
 */
export const scalerQuery: string = scalerQueryFor(defaultSchema);

function scalerQueryFor(schema: string): string {
  const unsettled = "state IN ('pending', 'sent')";
  const isDelayed = "visible_at > now() AND holder IS NULL";
  return `SELECT COALESCE((SELECT count(*) FROM ${quoteName(schema)}.items WHERE ${unsettled} AND NOT COALESCE(${isDelayed}, false)), 0)::int`;
}
