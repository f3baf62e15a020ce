export { type Migration, migrate, missingStatements, type SchemaPart } from "./migrate.ts";
export { quoteText } from "./quote-text.ts";
export { PostgresDatabase, type PostgresDatabaseOptions } from "./postgres-database.ts";
export { openPostgresLedger, type PostgresLedgerOptions } from "./postgres-ledger.ts";
export { defaultSchema, scalerQuery } from "./scaler-query.ts";
export { type NextWork, WakeUp } from "./wake-up.ts";
