import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LogRecord } from "../../../src/checkpoint/log/record.ts";
import { unseal } from "../../../src/checkpoint/sealed-json.ts";

/** Every record of a run's log in a directory store, as stored. */
export function readStoreLog(store: string, run: string): readonly LogRecord[] {
  const folder = join(store, run, "log");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => {
      const opened = unseal(readFileSync(join(folder, name)));
      if ("fault" in opened) throw new Error(`${name} ${opened.fault}`);
      return opened.content as LogRecord;
    });
}

/** Milliseconds from save to commit of everything that was saved and committed by one and the same start. */
export function commitLags(records: readonly LogRecord[]): readonly number[] {
  const started = new Map(
    records.flatMap((record) => (record.body.kind === "epoch" ? [[record.n, Date.parse(record.at)]] : [])),
  );
  return records.flatMap(({ body, at }) => {
    if (body.kind !== "commit" || Date.parse(body.savedAt) < (started.get(body.epoch) ?? 0)) return [];
    return [Date.parse(at) - Date.parse(body.savedAt)];
  });
}

/** Objects under a prefix of a run: paths below the run, with sizes. */
export function storedObjects(store: string, run: string, prefix: string): ReadonlyMap<string, number> {
  const root = join(store, run);
  const entries = readdirSync(join(root, prefix), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(files.map((path) => [path.slice(root.length + 1), statSync(path).size]));
}
