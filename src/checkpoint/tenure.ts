import { OutlastError } from "../core/index.ts";
import type { LogRecord } from "./log/record.ts";
import { type LogState, standing } from "./log/state.ts";

/** A start's identity in the log, once it may run its program. */
export interface Tenure {
  readonly shard: number;
  readonly of: number;
  /** Position of its epoch record. */
  readonly epoch: number;
  /** Position of its gang; one shard: its epoch. */
  readonly gang: number;
}

/** The state in which this start is still in charge; throws the error that ends it otherwise. */
export function requireTenure(
  head: LogRecord | undefined,
  run: string,
  tenure: Pick<Tenure, "shard" | "of" | "epoch">,
): LogState {
  const error = head
    ? endOfTenure(head.state, run, tenure)
    : new OutlastError("OUTLAST_LOG_LOST", `the log of run ${run} is gone`);
  if (error) throw error;
  return (head as LogRecord).state;
}

/** The error that ends this start, or undefined while it is in charge. */
export function endOfTenure(
  state: LogState,
  run: string,
  tenure: Pick<Tenure, "shard" | "of" | "epoch">,
): OutlastError | undefined {
  const where = standing(state, tenure.shard, tenure.epoch);
  if (where === "current") return undefined;
  if (where === "superseded") {
    return new OutlastError(
      "OUTLAST_SUPERSEDED",
      `a later start of run ${run} took over (this one was epoch ${tenure.epoch})`,
      {
        hint: "run each name from one place at a time; a sweep needs --per-index or a name of its own for each job",
      },
    );
  }
  return new OutlastError(
    "OUTLAST_GANG_ENDED",
    `another shard of run ${run} started anew; all shards resume together`,
    {
      hint: "start this shard again; it waits for the others",
    },
  );
}
