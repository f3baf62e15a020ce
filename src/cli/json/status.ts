import { z } from "zod";

/** `outlast status --json` with `--run`. Lengths of time are milliseconds; fields that are unknown are null. */
export interface StatusJson {
  schema: 1;
  run: string;
  finished: boolean;
  evictions: number;
  commits: number;
  newest: { step: number; at: string; bytes: number } | null;
  lagMs: { median: number; max: number } | null;
  lostSteps: number;
  time: { productiveMs: number; redoneMs: number; restoringMs: number; stoppingMs: number; totalMs: number };
  attempts: AttemptJson[];
}

/** One start of one shard. */
export interface AttemptJson {
  attempt: number;
  epoch: number;
  shard: number;
  host: string;
  startedAt: string;
  lastSeenAt: string;
  end: string;
  exitCode: number | null;
  noticeSource: string | null;
  noticeToExitMs: number | null;
  forced: boolean;
  resumedStep: number | null;
  lastStep: number | null;
  committedSteps: number[];
  lost: { steps: number; ms: number } | null;
  time: { restoringMs: number; runningMs: number; stoppingMs: number };
}

const attempt: z.ZodType<AttemptJson> = z.strictObject({
  attempt: z.number().describe("1 for the first start of its shard"),
  epoch: z.number().describe("position of its record in the log"),
  shard: z.number(),
  host: z.string(),
  startedAt: z.string().describe("when the program could be started"),
  lastSeenAt: z.string().describe("its exit, or its last sign of life"),
  end: z
    .enum(["finished", "failed", "evicted", "superseded", "interrupted", "gang-ended", "vanished", "open"])
    .describe("`vanished`: no exit was recorded and a later start came; `open`: no exit was recorded (yet)"),
  exitCode: z.number().nullable(),
  noticeSource: z.string().nullable(),
  noticeToExitMs: z.number().nullable(),
  forced: z.boolean().describe("whether the program had to be killed"),
  resumedStep: z.number().nullable(),
  lastStep: z.number().nullable().describe("highest step known to have been reached"),
  committedSteps: z.array(z.number()),
  lost: z
    .strictObject({ steps: z.number(), ms: z.number() })
    .nullable()
    .describe("what the next start had to do again; null while there is none"),
  time: z.strictObject({ restoringMs: z.number(), runningMs: z.number(), stoppingMs: z.number() }),
});

export const statusJson: z.ZodType<StatusJson> = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  finished: z.boolean(),
  evictions: z.number().describe("attempts that ended by a notice or vanished"),
  commits: z.number().describe("commits ever made, as far back as the log was read"),
  newest: z.strictObject({ step: z.number(), at: z.string(), bytes: z.number() }).nullable(),
  lagMs: z
    .strictObject({ median: z.number(), max: z.number() })
    .nullable()
    .describe("from a checkpoint's last write to its commit"),
  lostSteps: z.number(),
  time: z
    .strictObject({
      productiveMs: z.number(),
      redoneMs: z.number(),
      restoringMs: z.number(),
      stoppingMs: z.number(),
      totalMs: z.number(),
    })
    .describe("all attempts of all shards; the parts add up to the total"),
  attempts: z.array(attempt),
});

/** `outlast status --json` without `--run` */
export interface StatusListJson {
  schema: 1;
  runs: { run: string; finished: boolean; attempts: number; evictions: number; newestStep: number | null }[];
}

export const statusListJson: z.ZodType<StatusListJson> = z.strictObject({
  schema: z.literal(1),
  runs: z.array(
    z.strictObject({
      run: z.string(),
      finished: z.boolean(),
      attempts: z.number(),
      evictions: z.number(),
      newestStep: z.number().nullable(),
    }),
  ),
});
