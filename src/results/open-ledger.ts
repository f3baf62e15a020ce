import type { ResultsAddress } from "./results-url.ts";
import { parseResultsUrl } from "./results-url.ts";
import { type SqliteFileOptions, SqliteLedger } from "./sqlite/index.ts";
import type { Ledger } from "./types.ts";

/**
 * Opens the ledger and results at a URL; nothing is asked of the database before the first call.
 *
 * @example
 * const ledger = await openLedger("sqlite:work.db");
 */
export function openLedger(url: string, options: SqliteFileOptions = {}): Promise<Ledger> {
  return openLedgerAt(parseResultsUrl(url), options);
}

/** The same for an address that was read already. */
export async function openLedgerAt(address: ResultsAddress, options: SqliteFileOptions = {}): Promise<Ledger> {
  if (address.kind === "sqlite") return new SqliteLedger(address, options);
  // The Postgres client is loaded when it is used, and not before.
  const { openPostgresLedger } = await import("./postgres/index.ts");
  return openPostgresLedger(address);
}
