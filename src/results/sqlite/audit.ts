import type { Clock } from "../../core/index.ts";
import type { Audit } from "../types.ts";
import type { SqliteFile } from "./sqlite-file.ts";
import type { UserTable } from "./user-table.ts";

/** Rows looked at in one go; the event loop breathes between them, the snapshot stays. */
const pageRows = 5_000;

/** Looks at every published id once, in the caller's snapshot, and trusts no total. */
export async function auditItems(file: SqliteFile, table: UserTable, clock: Clock): Promise<Audit> {
  const sql = `SELECT seq, id, state, accepted, late, CASE WHEN state = 'done' THEN ${table.has("i.id")} ELSE 0 END AS stored
    FROM outlast_items i WHERE seq > ? ORDER BY seq LIMIT ${pageRows}`;
  let [published, done, dead, late] = [0, 0, 0, 0];
  const missing: string[] = [];
  const duplicates: string[] = [];
  const open = file.get("SELECT count(*) AS n FROM outlast_publications WHERE closed_at IS NULL");
  for (let after = -1; ; ) {
    const rows = file.all(sql, after);
    for (const row of rows) {
      const id = row["id"] as string;
      published += 1;
      late += row["late"] as number;
      if (row["state"] === "done") done += 1;
      if (row["state"] === "dead") dead += 1;
      if (row["state"] !== "dead" && row["stored"] !== 1) missing.push(id);
      if ((row["accepted"] as number) > 1) duplicates.push(id);
    }
    if (rows.length < pageRows) break;
    after = rows.at(-1)?.["seq"] as number;
    await clock.sleep(0);
  }
  return { published, done, dead, missing, duplicates, late, openPublications: Number(open?.["n"]) };
}
