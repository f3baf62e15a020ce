export { openLedger, openLedgerAt } from "./open-ledger.ts";
export { quoteName } from "./quote-name.ts";
export { redactUrl } from "./redact-url.ts";
export {
  isSameDatabase,
  type PubSubAddress,
  parseQueueUrl,
  parseResultsUrl,
  type QueueAddress,
  type ResultsAddress,
  type ResultsTable,
} from "./results-url.ts";
export { insertMany, missingTables, requireTables, SqliteFile, type SqliteFileOptions } from "./sqlite/index.ts";
export type {
  Audit,
  Claim,
  DeadItem,
  Depth,
  Ending,
  Item,
  ItemData,
  ItemKey,
  ItemLimits,
  ItemState,
  JsonValue,
  Ledger,
  NewItem,
  Settlement,
  SettleOutcome,
  StartOutcome,
} from "./types.ts";
