import { OutlastError } from "../../core/index.ts";
import type { HashName } from "../hash.ts";
import { seal, unseal } from "../sealed-json.ts";
import type { LogState, ManifestRef } from "./state.ts";

/** What a record says happened. See docs/reference/format.md. */
export type RecordBody =
  /** A start of one shard. Its position is the epoch's number. The first record of a log also fixes the hash. */
  | {
      readonly kind: "epoch";
      readonly shard: number;
      readonly of: number;
      readonly hash?: HashName;
      readonly again?: boolean;
      /** Not a start of the program: `outlast checkpoints copy` writes here. */
      readonly copy?: boolean;
    }
  /** A shard has restored and verified the target (0: nothing to restore). */
  | { readonly kind: "ready"; readonly epoch: number; readonly target: number }
  /** A start found this live commit damaged. */
  | { readonly kind: "damaged"; readonly epoch: number; readonly commit: number; readonly why: string }
  /** A checkpoint: everything its manifests name is stored. `reuses` are the commits whose chunks they reuse. */
  | {
      readonly kind: "commit";
      readonly epoch: number;
      readonly gang: number;
      readonly step: number;
      readonly manifests: readonly ManifestRef[];
      readonly reuses: readonly number[];
      readonly bytes: number;
      readonly files: number;
      /** When the newest of its files was last written, by the writer's clock; for people. */
      readonly savedAt: string;
    }
  /** A shard's program finished. */
  | { readonly kind: "done"; readonly epoch: number; readonly gang: number }
  | { readonly kind: "pin"; readonly commit: number; readonly pinned: boolean }
  /** These commits are no longer live; written before any of their objects is deleted. */
  | { readonly kind: "drop"; readonly commits: readonly number[] };

/** One entry of the log, with the state after it, so that a reader needs the newest alone. */
export interface LogRecord {
  readonly format: 1;
  readonly n: number;
  /** 128 random bits: how a writer recognises its own record. */
  readonly id: string;
  /** Wall-clock time of the writer; for people only. */
  readonly at: string;
  readonly body: RecordBody;
  readonly state: LogState;
}

/** Key of the record at a position, below the run. */
export function recordKey(n: number): string {
  return `log/${String(n).padStart(20, "0")}.json`;
}

/** A record as stored. */
export function encodeRecord(record: LogRecord): Uint8Array {
  return seal(record);
}

/** Reads a stored record; throws `OUTLAST_LOG_INVALID` if a bit of it is not as written. */
export function decodeRecord(bytes: Uint8Array, n: number, target: string): LogRecord {
  const fail = (what: string): never => {
    throw new OutlastError("OUTLAST_LOG_INVALID", `log record ${n} (${target}) ${what}`, {
      operation: "read",
      target,
      hint: "restore that object from a backup or an older version of it; the run is not continued on a guess",
    });
  };
  const opened = unseal(bytes);
  if ("fault" in opened) return fail(opened.fault);
  const record = opened.content as LogRecord | null;
  if (record === null || typeof record !== "object") return fail("is not a record");
  if (record.format !== 1) fail(`has format ${String(record.format)}; this version of outlast reads format 1`);
  if (record.n !== n) fail(`says it is record ${record.n}`);
  return record;
}
