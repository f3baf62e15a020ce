import type { Depth } from "../types.ts";
import type { SqliteFile } from "./sqlite-file.ts";
import { settledLastMinute } from "./totals.ts";

const waiting = (
  state: string,
) => `SELECT coalesce(sum(holder IS NOT NULL), 0) AS leased, coalesce(sum(holder IS NULL), 0) AS delayed
  FROM outlast_items WHERE state = '${state}' AND visible_at > ?`;
const oldest = (state: string, range: string) =>
  `SELECT added_at FROM outlast_items WHERE state = '${state}' AND ${range} ORDER BY visible_at, seq LIMIT 1`;

/** How much there is. Settled items are known from the totals; what is leased or delayed is few, and counted. */
export function readDepth(file: SqliteFile): Depth {
  const now = file.now();
  const totals = file.get("SELECT * FROM outlast_totals WHERE bucket = 0");
  const number = (name: string) => Number(totals?.[name] ?? 0);
  let [leased, delayed] = [0, 0];
  const ages: number[] = [];
  for (const state of ["pending", "sent"]) {
    const row = file.get(waiting(state), now);
    leased += Number(row?.["leased"]);
    delayed += Number(row?.["delayed"]);
    const found = [
      file.get(oldest(state, "visible_at = 0")),
      file.get(oldest(state, "visible_at BETWEEN 1 AND ?"), now),
    ];
    for (const first of found) if (first) ages.push((now - Number(first["added_at"])) / 1000);
  }
  const open = file.get("SELECT count(*) AS n FROM outlast_publications WHERE closed_at IS NULL");
  const [total, done, dead] = [number("total"), number("done"), number("dead")];
  return {
    ready: total - done - dead - leased - delayed,
    leased,
    delayed,
    dead,
    done,
    total,
    oldestReadySeconds: ages.length > 0 ? Math.max(0, ...ages) : undefined,
    ratePerMinute: settledLastMinute(file, now),
    openPublications: Number(open?.["n"]),
    interruptions: number("interruptions"),
    late: number("late"),
  };
}
