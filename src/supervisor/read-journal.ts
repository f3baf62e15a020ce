import { isOutlastError } from "../core/index.ts";
import type { ObjectInfo } from "../storage/index.ts";
import type { JournalRecord } from "./journal.ts";

/** A record and where it stands: `epoch` tells the attempt, `k` the order within it. */
export interface JournalEntry {
  readonly epoch: number;
  readonly k: number;
  readonly record: JournalRecord;
}

/** The part of a run's store that holds its journal. */
export interface JournalSource {
  list(prefix: string): AsyncIterable<ObjectInfo>;
  get(key: string): Promise<Uint8Array>;
}

const keyForm = /^journal\/(\d{1,15})\/(\d{1,15})\.json$/;
const eventNames: readonly string[] = ["start", "first-step", "progress", "notice", "exit"];
const atOnce = 8;

/** Reads a run's whole journal in order. What is not a record of a kind we know is counted and passed over. */
export async function readJournal(
  run: JournalSource,
): Promise<{ readonly entries: readonly JournalEntry[]; readonly unreadable: number }> {
  const keys: { key: string; epoch: number; k: number }[] = [];
  let unreadable = 0;
  for await (const { key } of run.list("journal/")) {
    const match = keyForm.exec(key);
    if (match) keys.push({ key, epoch: Number(match[1]), k: Number(match[2]) });
    else unreadable += 1;
  }
  keys.sort((a, b) => a.epoch - b.epoch || a.k - b.k);

  const records: (JournalRecord | undefined)[] = [];
  let next = 0;
  const reader = async () => {
    for (let i = next++; i < keys.length; i = next++) records[i] = await readRecord(run, keys[i]?.key ?? "");
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, keys.length) }, reader));

  const entries = keys.flatMap(({ epoch, k }, i) => {
    const record = records[i];
    return record ? [{ epoch, k, record }] : [];
  });
  return { entries, unreadable: unreadable + keys.length - entries.length };
}

async function readRecord(run: JournalSource, key: string): Promise<JournalRecord | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await run.get(key);
  } catch (error) {
    // Deleted between the list and the read: someone cleared the journal, which is allowed at any time.
    if (isOutlastError(error, "OUTLAST_OBJECT_NOT_FOUND")) return undefined;
    throw error;
  }
  try {
    const value = JSON.parse(Buffer.from(bytes).toString("utf8")) as Partial<JournalRecord> | null;
    const isKnown = value?.format === 1 && typeof value.at === "string" && eventNames.includes(value.event ?? "");
    return isKnown ? (value as JournalRecord) : undefined;
  } catch {
    // Not JSON: counted by the caller as unreadable; the journal is for people and never decides anything.
    return undefined;
  }
}
