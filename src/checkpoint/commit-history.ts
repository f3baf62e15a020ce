import type { Clock } from "../core/index.ts";
import { OutlastError } from "../core/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import { decodeRecord, type LogRecord, recordKey } from "./log/record.ts";
import { RunLog } from "./log/run-log.ts";
import { isFinished } from "./log/state.ts";
import type { RunStore } from "./run-store.ts";

/** A commit as its record has it, whether or not it is still live. */
export interface CommitRecord {
  readonly position: number;
  readonly epoch: number;
  readonly step: number;
  readonly bytes: number;
  readonly at: string;
  readonly savedAt: string;
}

export interface CommitHistory {
  /** In ascending order of position. */
  readonly commits: readonly CommitRecord[];
  readonly finished: boolean;
  /** Positions before this one were not read. */
  readonly readFrom: number;
}

export interface HistoryOptions {
  readonly clock: Clock;
  /** Read at most this many of the newest records. @default 10_000 */
  readonly most?: number;
  readonly onProgress?: (read: number, total: number) => void;
}

const atOnce = 16;

/** Every commit of the newest part of a run's log; throws `OUTLAST_RUN_UNKNOWN` when there is no log. */
export async function readCommitHistory(run: RunStore, options: HistoryOptions): Promise<CommitHistory> {
  const { clock, most = 10_000, onProgress } = options;
  const head = await new RunLog(run, { clock }).head();
  if (!head) {
    throw new OutlastError("OUTLAST_RUN_UNKNOWN", `the store ${run.store.url} holds no run "${run.run}"`, {
      hint: "`outlast status --store …` without --run lists the runs that are there",
    });
  }
  const readFrom = Math.max(1, head.n - most + 1);
  const total = head.n - readFrom + 1;
  const records = new Map<number, LogRecord>();
  let next = readFrom;
  const reader = async () => {
    for (let n = next++; n <= head.n; n = next++) {
      const key = recordKey(n);
      records.set(n, n === head.n ? head : decodeRecord(await run.get(key), n, run.prefix + key));
      onProgress?.(records.size, total);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, total) }, reader));
  const commits = [...records.values()]
    .sort((a, b) => a.n - b.n)
    .flatMap(({ n, at, body }) => {
      if (body.kind !== "commit") return [];
      const { epoch, step, bytes, savedAt } = body;
      return [{ position: n, epoch, step, bytes, at, savedAt }];
    });
  return { commits, finished: isFinished(head.state), readFrom };
}

/** Names of all runs of a store: those that have a first log record. */
export async function listRuns(store: ObjectStore): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const folder of store.folders("")) {
    const first = folder + recordKey(1);
    for await (const { key } of store.list(first)) if (key === first) names.push(folder.slice(0, -1));
  }
  return names;
}
