import type { Clock } from "../../core/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import type { Transfer } from "../transfer/types.ts";

/** What a start of a run needs to know about its checkpoints. */
export interface SessionOptions {
  readonly store: ObjectStore;
  readonly run: string;
  /** The checkpoint directory, absolute. */
  readonly dir: string;
  readonly transfer: Transfer;
  readonly clock: Clock;
  /** This shard's number, from 0. @default 0 */
  readonly shard?: number | undefined;
  /** How many shards the run has. @default 1 */
  readonly of?: number | undefined;
  /** Run a finished run anew. @default false */
  readonly again?: boolean | undefined;
  /** Restore, but save nothing: for ranks whose checkpoints another rank writes. @default false */
  readonly restoreOnly?: boolean | undefined;
  /** How many good checkpoints to keep; never fewer than two. @default 3 */
  readonly keep?: number | undefined;
  /** A pattern for the file that marks a checkpoint as complete. */
  readonly completeWhen?: string | undefined;
  /** Patterns of what is no part of any checkpoint. */
  readonly ignore?: readonly string[] | undefined;
  /** Bytes per second that the transfer holds shipments beside the running program to. @default no limit */
  readonly maxRate?: number | undefined;
  /** How often to look for complete checkpoints. @default 500 */
  readonly pollMs?: number | undefined;
  /** How often to look whether a later start took over. @default 10_000 */
  readonly followMs?: number | undefined;
}
