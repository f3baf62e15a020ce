import { z } from "zod";

/** A checkpoint as the commands show it. */
export interface CheckpointJson {
  step: number;
  bytes: number;
  files: number;
  shards: number;
  committedAt: string;
  state: "good" | "retired" | "damaged";
  pinned: boolean;
  position: number;
}

const checkpoint: z.ZodType<CheckpointJson> = z.strictObject({
  step: z.number(),
  bytes: z.number().describe("sum of its files' sizes"),
  files: z.number(),
  shards: z.number(),
  committedAt: z.string().describe("RFC 3339, by the committing machine's clock"),
  state: z
    .enum(["good", "retired", "damaged"])
    .describe("`retired`: a later commit has an equal or lower step; `damaged`: a start found it so"),
  pinned: z.boolean(),
  position: z.number().describe("position of its commit in the log; the highest is the newest"),
});

/** `outlast checkpoints list --json` */
export interface CheckpointsListJson {
  schema: 1;
  run: string;
  finished: boolean;
  checkpoints: CheckpointJson[];
}

export const checkpointsListJson: z.ZodType<CheckpointsListJson> = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  finished: z.boolean().describe("whether the run's work is finished"),
  checkpoints: z.array(checkpoint).describe("newest first"),
});

/** `outlast checkpoints verify --json` */
export interface CheckpointsVerifyJson {
  schema: 1;
  run: string;
  ok: boolean;
  checked: {
    step: number;
    position: number;
    bytes: number;
    ok: boolean;
    faults: { key: string; fault: string }[];
  }[];
}

export const checkpointsVerifyJson: z.ZodType<CheckpointsVerifyJson> = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  ok: z.boolean().describe("whether every checked checkpoint is whole; the exit code is 1 when not"),
  checked: z.array(
    z.strictObject({
      step: z.number(),
      position: z.number(),
      bytes: z.number(),
      ok: z.boolean(),
      faults: z
        .array(z.strictObject({ key: z.string(), fault: z.string() }))
        .describe("objects that are missing or wrong"),
    }),
  ),
});

/** `outlast checkpoints pull --json` */
export interface CheckpointsPullJson {
  schema: 1;
  run: string;
  step: number;
  path: string;
  bytes: number;
}

export const checkpointsPullJson: z.ZodType<CheckpointsPullJson> = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  step: z.number(),
  path: z.string().describe("the checkpoint's folder or file below --to"),
  bytes: z.number(),
});

/** `outlast checkpoints prune --json` */
export interface CheckpointsPruneJson {
  schema: 1;
  run: string;
  dryRun: boolean;
  kept: CheckpointJson[];
  dropped: CheckpointJson[];
  deletedObjects: number;
  freedBytes: number;
}

export const checkpointsPruneJson: z.ZodType<CheckpointsPruneJson> = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  dryRun: z.boolean(),
  kept: z.array(checkpoint),
  dropped: z.array(checkpoint),
  deletedObjects: z.number(),
  freedBytes: z.number(),
});

/** `outlast checkpoints pin --json`, `outlast checkpoints unpin --json` */
export interface CheckpointsPinJson {
  schema: 1;
  run: string;
  step: number;
  pinned: boolean;
}

export const checkpointsPinJson: z.ZodType<CheckpointsPinJson> = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  step: z.number(),
  pinned: z.boolean(),
});

/** `outlast checkpoints copy --json` */
export interface CheckpointsCopyJson {
  schema: 1;
  run: string;
  toStore: string;
  toRun: string;
  dryRun: boolean;
  finished: boolean;
  copied: CheckpointJson[];
  there: CheckpointJson[];
  leftOut: { step: number; reason: string; why?: string | undefined }[];
  sentBytes: number;
}

export const checkpointsCopyJson: z.ZodType<CheckpointsCopyJson> = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  toStore: z.string(),
  toRun: z.string(),
  dryRun: z.boolean(),
  finished: z.boolean().describe("whether the copy counts as finished, as its source does"),
  copied: z
    .array(checkpoint)
    .describe("as they are in the source, oldest first; with `--dry-run` what would be copied"),
  there: z.array(checkpoint).describe("copied before"),
  leftOut: z
    .array(z.strictObject({ step: z.number(), reason: z.string(), why: z.string().optional() }))
    .describe("`older than what the copy holds`, `dropped meanwhile`, or `damaged`; the exit code is 1 for the last"),
  sentBytes: z.number().describe("bytes really sent; what checkpoints share is sent once"),
});
