import {
  readBytes,
  readChoice,
  readCount,
  readDuration,
  readFlag,
  readRate,
  readShard,
  readSignal,
  readText,
  type ShardOf,
} from "./readers.ts";
import { readRunName } from "./run-name.ts";
import { type LintSettingTypes, lintSettings } from "./lint-settings.ts";
import { type ManifestSettingTypes, manifestSettings } from "./manifest-settings.ts";
import { type PlanSettingTypes, planSettings } from "./plan-settings.ts";
import type { Setting } from "./setting.ts";

export type { Setting } from "./setting.ts";

/** Every setting a command can take and the type of its value. Lengths of time are milliseconds. */
export interface SettingTypes extends PlanSettingTypes, ManifestSettingTypes, LintSettingTypes {
  readonly store: string;
  readonly run: string;
  readonly dir: string;
  readonly grace: number;
  readonly keep: number;
  readonly stopSignal: NodeJS.Signals;
  readonly stopScope: "main" | "tree" | "group";
  readonly shard: ShardOf;
  readonly perIndex: boolean;
  readonly restoreOnly: boolean;
  readonly again: boolean;
  readonly exitOnEviction: number;
  readonly finishedWhen: string;
  /** A time or a length of time from now; read where the notice is made. */
  readonly endsAt: string;
  readonly endsAtFile: string;
  readonly completeWhen: string;
  readonly ignore: readonly string[];
  readonly notice: "auto" | "metadata" | "signal";
  /** Bytes per second. */
  readonly maxRate: number;
  readonly step: number;
  readonly to: string;
  readonly toStore: string;
  readonly toRun: string;
  readonly region: string;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly logFormat: "auto" | "json" | "pretty";
  readonly logLevel: "debug" | "info" | "warning" | "error";
  readonly noProgress: boolean;
  readonly config: string;
  readonly keepFiles: boolean;
  readonly queue: string;
  readonly results: string;
  readonly chunk: number;
  readonly concurrency: number;
  readonly lease: number;
  readonly untilDrained: boolean;
  readonly handler: string;
  readonly http: string;
  readonly batch: boolean;
  readonly itemTimeout: number;
  readonly maxResult: number;
  readonly attempts: number;
  readonly id: string;
  readonly version: string;
  readonly format: "auto" | "csv" | "tsv" | "jsonl" | "files";
  readonly skipBad: boolean;
  readonly out: string;
  readonly missing: boolean;
  readonly yes: boolean;
  readonly limit: number;
  readonly listen: string;
  readonly chunksPerWorker: number;
  readonly maxWorkers: number;
}

export type SettingName = keyof SettingTypes;

/** All settings; flags, variables, keys of outlast.yaml and the reference pages come from here. */
export const settings: { readonly [Name in SettingName]: Setting<SettingTypes[Name]> } = {
  store: {
    flag: "store",
    value: "URL|PATH",
    file: "store",
    summary:
      "where checkpoints are kept: gs://BUCKET/PREFIX, s3://BUCKET/PREFIX, or a directory that outlives this machine",
    read: readText,
  },
  run: {
    flag: "run",
    value: "NAME",
    file: "run.name",
    summary: "the run's name in the store; `outlast run` derives one from --dir and the command when it is left out",
    read: readRunName,
  },
  dir: {
    flag: "dir",
    value: "DIR",
    file: "run.dir",
    summary: "the directory the program writes its checkpoints to",
    read: readText,
  },
  grace: {
    flag: "grace",
    value: "TIME",
    file: "run.grace",
    default: "15s",
    summary: "time from the notice to the machine's end; everything is over one second before",
    read: readDuration(2000),
  },
  keep: {
    flag: "keep",
    value: "N",
    file: "run.keep",
    default: "3",
    summary: "checkpoints to keep in the store; never fewer than two good ones",
    read: readCount(1, 1_000_000),
  },
  stopSignal: {
    flag: "stop-signal",
    value: "NAME",
    file: "run.stopSignal",
    default: "TERM",
    summary: "the signal that asks the program to stop",
    read: readSignal,
  },
  stopScope: {
    flag: "stop-scope",
    value: "main|tree|group",
    file: "run.stopScope",
    default: "main",
    summary: "who gets the stop signal: the program itself, it and all its descendants, or its process group",
    read: readChoice(["main", "tree", "group"]),
  },
  shard: {
    flag: "shard",
    value: "i/n",
    summary: "this process is shard i (from 0) of n that save one checkpoint together",
    read: readShard,
  },
  perIndex: {
    flag: "per-index",
    file: "run.perIndex",
    summary: "an independent run per Job index: JOB_COMPLETION_INDEX is added to the run's name",
    read: readFlag,
  },
  restoreOnly: {
    flag: "restore-only",
    file: "run.restoreOnly",
    summary: "restore, but ship nothing (a rank that saves nothing)",
    read: readFlag,
  },
  again: {
    flag: "again",
    variable: false,
    summary: "start a run that is already finished anew",
    read: readFlag,
  },
  exitOnEviction: {
    flag: "exit-on-eviction",
    value: "CODE",
    file: "run.exitOnEviction",
    default: "75",
    summary: "exit code after a notice when the work is not finished",
    read: readCount(0, 255),
  },
  finishedWhen: {
    flag: "finished-when",
    value: "PATH",
    file: "run.finishedWhen",
    summary: "the work is finished once this file exists, whatever the exit code after a notice",
    read: readText,
  },
  endsAt: {
    flag: "ends-at",
    value: "TIME",
    summary: "a known end: save, commit and leave before it (2026-08-21T17:30:00Z, or from now: 5h30m)",
    read: readText,
  },
  endsAtFile: {
    flag: "ends-at-file",
    value: "PATH",
    file: "run.endsAtFile",
    summary: "a file that will hold the known end, such as a downward-API file of the annotation outlast.dev/stop-at",
    read: readText,
  },
  completeWhen: {
    flag: "complete-when",
    value: "PATTERN",
    file: "run.completeWhen",
    summary: "a checkpoint is complete once a file of this pattern is in it",
    read: readText,
  },
  ignore: {
    flag: "ignore",
    value: "PATTERN",
    file: "run.ignore",
    many: true,
    summary: "files under --dir that belong to no checkpoint",
    read: readText,
  },
  notice: {
    flag: "notice",
    value: "auto|metadata|signal",
    file: "run.notice",
    default: "auto",
    summary: "where notices come from besides signals: the GCE metadata server (auto: where there is one), or nowhere",
    read: readChoice(["auto", "metadata", "signal"]),
  },
  maxRate: {
    flag: "max-rate",
    value: "RATE",
    file: "run.maxRate",
    summary:
      "the most that uploads may take while the program runs, such as 50MB/s; restores and the end are not held back",
    read: readRate,
  },
  step: { flag: "step", value: "N", variable: false, summary: "the checkpoint of this step", read: readCount(0) },
  toStore: {
    flag: "to-store",
    value: "URL|PATH",
    variable: false,
    summary: "the store to copy to",
    read: readText,
  },
  toRun: {
    flag: "to-run",
    value: "NAME",
    variable: false,
    summary: "the copy's name; the run's own when left out",
    read: readRunName,
  },
  region: {
    flag: "region",
    value: "NAME",
    file: "run.region",
    summary:
      "the region this machine is in, compared with the bucket's; asked of the GCE metadata server when left out",
    read: readText,
  },
  to: { flag: "to", value: "DIR", variable: false, summary: "the directory to write to", read: readText },
  dryRun: { flag: "dry-run", variable: false, summary: "say what would be done, and do nothing", read: readFlag },
  json: { flag: "json", variable: false, summary: "one JSON object on standard output", read: readFlag },
  logFormat: {
    flag: "log-format",
    value: "auto|json|pretty",
    file: "log.format",
    default: "auto",
    summary: "how log lines look; auto: readable on a terminal, JSON lines elsewhere",
    read: readChoice(["auto", "json", "pretty"]),
  },
  logLevel: {
    flag: "log-level",
    value: "LEVEL",
    file: "log.level",
    default: "info",
    summary: "the least severity that is logged: debug, info, warning or error",
    read: readChoice(["debug", "info", "warning", "error"]),
  },
  noProgress: { flag: "no-progress", summary: "no progress on standard error", read: readFlag },
  config: { flag: "config", value: "FILE", summary: "the file to read instead of ./outlast.yaml", read: readText },
  keepFiles: { flag: "keep-files", variable: false, summary: "leave the files for you to look at", read: readFlag },
  queue: {
    flag: "queue",
    value: "URL",
    file: "batch.queue",
    summary: "where items wait: sqlite:PATH, postgres://…, pubsub://PROJECT/SUBSCRIPTION?topic=TOPIC",
    read: readText,
  },
  results: {
    flag: "results",
    value: "URL",
    file: "batch.results",
    summary: "where results go: sqlite:PATH, postgres://…?table=NAME; the queue's own database when left out",
    read: readText,
  },
  chunk: {
    flag: "chunk",
    value: "N",
    file: "batch.chunk",
    default: "10",
    summary: "items that are pulled, started and settled together",
    read: readCount(1, 1000),
  },
  concurrency: {
    flag: "concurrency",
    value: "N",
    file: "batch.concurrency",
    default: "1",
    summary: "handlers at work at the same time, each a process of its own with a chunk of its own",
    read: readCount(1, 256),
  },
  lease: {
    flag: "lease",
    value: "TIME",
    file: "batch.lease",
    default: "30s",
    summary: "how long a worker that vanished keeps its items from the others; renewed while it lives",
    read: readDuration(1000, "a lease that ends before it can be renewed is of no use"),
  },
  untilDrained: {
    flag: "until-drained",
    file: "batch.untilDrained",
    summary: "exit 0 once every published item is done or dead, instead of waiting for more",
    read: readFlag,
  },
  handler: {
    flag: "handler",
    value: "FILE",
    file: "batch.handler",
    summary: "a TypeScript or JavaScript file whose default export handles an item, instead of a program",
    read: readText,
  },
  http: {
    flag: "http",
    value: "URL",
    file: "batch.http",
    summary: "an endpoint that each item is posted to, instead of a program",
    read: readText,
  },
  batch: {
    flag: "batch",
    file: "batch.batch",
    summary: 'give the handler whole chunks, {"items": […]}, instead of single items',
    read: readFlag,
  },
  itemTimeout: {
    flag: "item-timeout",
    value: "TIME",
    file: "batch.itemTimeout",
    summary: "an item without an answer for so long has failed; none when left out",
    read: readDuration(1, "give it some time"),
  },
  maxResult: {
    flag: "max-result",
    value: "SIZE",
    file: "batch.maxResult",
    default: "1MiB",
    summary: "a result whose JSON is larger is refused for good",
    read: readBytes,
  },
  attempts: {
    flag: "attempts",
    value: "N",
    file: "batch.attempts",
    default: "5",
    summary: "failures after which an item is dead; evictions are not failures",
    read: readCount(1, 1000),
  },
  id: {
    flag: "id",
    value: "COLUMN",
    file: "batch.id",
    summary: "the column that holds an item's id; the hash of its data and --version when left out",
    read: readText,
  },
  version: {
    flag: "version",
    value: "TEXT",
    file: "batch.version",
    variable: false,
    summary: "names the model or configuration: part of the hash that is an item's id when there is no --id",
    read: readText,
  },
  format: {
    flag: "format",
    value: "auto|csv|tsv|jsonl|files",
    variable: false,
    default: "auto",
    summary: "how a table is read or written; auto: by the file's name, else JSON lines; files: each file is an item",
    read: readChoice(["auto", "csv", "tsv", "jsonl", "files"]),
  },
  skipBad: {
    flag: "skip-bad",
    variable: false,
    summary: "count and skip lines that cannot be read, instead of stopping there",
    read: readFlag,
  },
  out: {
    flag: "out",
    value: "FILE",
    variable: false,
    summary: "the file to write; standard output when left out",
    read: readText,
  },
  missing: {
    flag: "missing",
    variable: false,
    summary: "send again what was sent to a separate broker and never settled",
    read: readFlag,
  },
  yes: { flag: "yes", variable: false, summary: "do it without being asked again", read: readFlag },
  limit: { flag: "limit", value: "N", variable: false, default: "50", summary: "how many to list", read: readCount(1) },
  listen: {
    flag: "listen",
    value: "HOST:PORT",
    file: "batch.listen",
    default: "127.0.0.1:9463",
    summary: "where to answer; a bare port listens on this machine only",
    read: readText,
  },
  chunksPerWorker: {
    flag: "chunks-per-worker",
    value: "N",
    file: "batch.chunksPerWorker",
    default: "10",
    summary: "chunks one worker is expected to get through; decides how many are wanted",
    read: readCount(1),
  },
  maxWorkers: {
    flag: "max-workers",
    value: "N",
    file: "batch.maxWorkers",
    summary: "never want more workers than this",
    read: readCount(1),
  },
  ...lintSettings,
  ...planSettings,
  ...manifestSettings,
};

/** A setting's variable, such as `OUTLAST_STOP_SIGNAL`; undefined when it has none. */
export function variableOf(name: SettingName): string | undefined {
  const setting: Setting<unknown> = settings[name];
  return setting.variable === false ? undefined : `OUTLAST_${setting.flag.replaceAll("-", "_").toUpperCase()}`;
}
