import type { RunStore } from "../run-store.ts";
import { decodeRecord, recordKey } from "./record.ts";

/** When a record was written, by its writer's clock, in milliseconds since 1970. For people and estimates only. */
export async function recordTime(run: RunStore, n: number, signal?: AbortSignal): Promise<number> {
  return Date.parse(decodeRecord(await run.get(recordKey(n), { signal }), n, run.prefix + recordKey(n)).at);
}
