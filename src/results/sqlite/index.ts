export { insertMany } from "./insert-many.ts";
export { missingTables, requireTables } from "./schema.ts";
export { SqliteFile, type SqliteFileOptions } from "./sqlite-file.ts";
export { SqliteLedger } from "./sqlite-ledger.ts";
