import { randomBytes } from "node:crypto";
import { decideStart } from "../rules.ts";
import type { ItemKey, Ledger, StartOutcome } from "../types.ts";
import { readRows, writeRow } from "./item-rows.ts";
import type { SqliteFile } from "./sqlite-file.ts";
import { Totals } from "./totals.ts";

/** Starts a chunk, inside a transaction of the caller. */
export function startItems(
  file: SqliteFile,
  items: readonly ItemKey[],
  options: Parameters<Ledger["start"]>[1],
): StartOutcome[] {
  const now = file.now();
  const rows = readRows(
    file,
    items.map((item) => item.id),
  );
  const found = items.map((item) => rows.get(item.id));
  const totals = new Totals();
  // Claims are compared together with their item, so one serves the chunk. Short, since it is stored in every row.
  const decisions = decideStart(items, found, { ...options, now, claim: randomBytes(12).toString("base64url") });
  decisions.forEach(({ row }, i) => {
    const before = found[i];
    if (!row || !before) return;
    writeRow(file, before, row, now);
    totals.count(before, row);
  });
  totals.write(file, now);
  return decisions.map((decision) => decision.outcome);
}
