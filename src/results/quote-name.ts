/** A table or column name for SQL, standard in SQLite and Postgres: whatever it holds, it stays a name. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
