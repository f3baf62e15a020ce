/** A text as SQL takes it; for statements that cannot have parameters. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
