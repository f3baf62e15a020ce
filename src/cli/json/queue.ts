import { z } from "zod";
import type { JsonValue } from "../../results/index.ts";

const schema: z.ZodLiteral<1> = z.literal(1);
const itemData: z.ZodType<{ readonly [key: string]: JsonValue }> = z.record(z.string(), z.json());

/** `outlast publish --json` */
export interface PublishJson {
  schema: 1;
  publication: string;
  dryRun: boolean;
  complete: boolean;
  read: number;
  added: number;
  known: number;
  duplicates: number;
  bad: number;
  sent: number;
  first: { id: string; data: { readonly [key: string]: JsonValue } }[];
}

export const publishJson: z.ZodType<PublishJson> = z.strictObject({
  schema,
  publication: z.string().describe("its name: source, --id and --version"),
  dryRun: z.boolean(),
  complete: z.boolean().describe("false when it was stopped before the end; publish again to go on"),
  read: z.number().describe("rows read"),
  added: z.number().describe("items that were new"),
  known: z.number().describe("items that had been published before"),
  duplicates: z.number().describe("rows whose id an earlier row of this source had"),
  bad: z.number().describe("lines that could not be read and were skipped (--skip-bad)"),
  sent: z.number().describe("messages sent to a separate broker"),
  first: z.array(z.strictObject({ id: z.string(), data: itemData })).describe("up to three items, as workers get them"),
});

/** `outlast queue status --json`, and what `outlast queue serve` answers at `/queue/depth`. */
export interface QueueStatusJson {
  schema: 1;
  queue: string;
  ready: number;
  leased: number;
  delayed: number;
  dead: number;
  done: number;
  total: number;
  oldestReadySeconds: number | null;
  ratePerMinute: number;
  etaSeconds: number | null;
  wanted: number;
  openPublications: number;
  interruptions: number;
  late: number;
}

export const queueStatusJson: z.ZodType<QueueStatusJson> = z.strictObject({
  schema,
  queue: z.string(),
  ready: z.number().describe("claimable now"),
  leased: z.number().describe("in the hands of a worker"),
  delayed: z.number().describe("waiting for a retry's delay"),
  dead: z.number(),
  done: z.number(),
  total: z.number().describe("published"),
  oldestReadySeconds: z.number().nullable(),
  ratePerMinute: z.number().describe("settled in the last minute"),
  etaSeconds: z.number().nullable().describe("until nothing is left, at that rate"),
  wanted: z.number().describe("workers that could be kept busy; 0 only when nothing is ready or leased"),
  openPublications: z.number().describe("publishing under way, or killed and not run again"),
  interruptions: z.number().describe("started claims that ran out"),
  late: z.number().describe("results refused because one stood already"),
});

/** `outlast queue create --json` */
export interface QueueCreateJson {
  schema: 1;
  queue: string;
  dryRun: boolean;
  plan: string[];
}

export const queueCreateJson: z.ZodType<QueueCreateJson> = z.strictObject({
  schema,
  queue: z.string(),
  dryRun: z.boolean(),
  plan: z.array(z.string()).describe("commands and statements that were missing; with --dry-run they were not run"),
});

/** `outlast queue dead --json` */
export interface QueueDeadJson {
  schema: 1;
  queue: string;
  dead: {
    id: string;
    data: { readonly [key: string]: JsonValue };
    error: string;
    failures: number;
    interruptions: number;
    diedAt: string;
  }[];
}

export const queueDeadJson: z.ZodType<QueueDeadJson> = z.strictObject({
  schema,
  queue: z.string(),
  dead: z.array(
    z.strictObject({
      id: z.string(),
      data: itemData,
      error: z.string(),
      failures: z.number(),
      interruptions: z.number(),
      diedAt: z.string().describe("RFC 3339, by the database's clock"),
    }),
  ),
});

/** `outlast queue retry --json` */
export interface QueueRetryJson {
  schema: 1;
  queue: string;
  retried: number;
  sent: number;
}

export const queueRetryJson: z.ZodType<QueueRetryJson> = z.strictObject({
  schema,
  queue: z.string(),
  retried: z.number().describe("items that are pending again"),
  sent: z.number().describe("messages sent to a separate broker"),
});

/** `outlast queue audit --json` */
export interface QueueAuditJson {
  schema: 1;
  queue: string;
  ok: boolean;
  published: number;
  done: number;
  dead: number;
  missing: string[];
  duplicates: string[];
  late: number;
  openPublications: number;
}

export const queueAuditJson: z.ZodType<QueueAuditJson> = z.strictObject({
  schema,
  queue: z.string(),
  ok: z.boolean().describe("nothing missing, nothing twice; the exit code is 1 when not"),
  published: z.number(),
  done: z.number(),
  dead: z.number(),
  missing: z
    .array(z.string())
    .describe("published ids that are neither done nor dead, or done without a row in the results"),
  duplicates: z.array(z.string()).describe("ids settled more than once"),
  late: z.number().describe("results refused because one stood already"),
  openPublications: z.number(),
});

/** `outlast queue export --json` (with --out) */
export interface QueueExportJson {
  schema: 1;
  queue: string;
  out: string;
  format: "csv" | "jsonl";
  results: number;
}

export const queueExportJson: z.ZodType<QueueExportJson> = z.strictObject({
  schema,
  queue: z.string(),
  out: z.string(),
  format: z.enum(["csv", "jsonl"]),
  results: z.number(),
});

/** `outlast queue purge --json` */
export interface QueuePurgeJson {
  schema: 1;
  queue: string;
  purged: number;
}

export const queuePurgeJson: z.ZodType<QueuePurgeJson> = z.strictObject({
  schema,
  queue: z.string(),
  purged: z.number().describe("items forgotten; results in your own table stay"),
});
