import type { SQLInputValue } from "node:sqlite";
import type { SqliteFile } from "./sqlite-file.ts";

/** Rows in one statement: what a call from JavaScript costs is shared by them. */
const width = 50;

/**
 * Inserts rows of `columns`, leaving out those whose key is there already, and says how many were new. `columns` is ours, never a
 * user's.
 */
export function insertMany(
  file: SqliteFile,
  into: string,
  columns: number,
  rows: readonly (readonly SQLInputValue[])[],
): number {
  const one = `(${Array.from({ length: columns }, () => "?").join(", ")})`;
  const insert = (count: number) =>
    `INSERT INTO ${into} VALUES ${Array(count).fill(one).join(", ")} ON CONFLICT DO NOTHING`;
  const [wide, single] = [insert(width), insert(1)];
  const end = rows.length - (rows.length % width);
  let added = 0;
  for (let i = 0; i < end; i += width) added += file.run(wide, ...rows.slice(i, i + width).flat());
  for (const row of rows.slice(end)) added += file.run(single, ...row);
  return added;
}
