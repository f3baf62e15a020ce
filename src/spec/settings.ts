import {
  type Reader,
  readChoice,
  readCount,
  readDuration,
  readFlag,
  readShard,
  readSignal,
  readText,
  type ShardOf,
} from "./readers.ts";
import { readRunName } from "./run-name.ts";

/** Every setting a command can take and the type of its value. Lengths of time are milliseconds. */
export interface SettingTypes {
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
  readonly step: number;
  readonly to: string;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly logFormat: "auto" | "json" | "pretty";
  readonly logLevel: "debug" | "info" | "warning" | "error";
  readonly noProgress: boolean;
  readonly config: string;
  readonly keepFiles: boolean;
}

export type SettingName = keyof SettingTypes;

/** One setting: how it is spelt everywhere it may be given, and how it is read. */
export interface Setting<T> {
  /** Long flag without its dashes. */
  readonly flag: string;
  /** What stands for the value in help; a setting without one is a switch. */
  readonly value?: string;
  /** Where it stands in outlast.yaml; settings of a single call have no place there. */
  readonly file?: string;
  /** False for settings of a single call: they have no variable. @default true */
  readonly variable?: boolean;
  /** May be given several times; each value is read by itself. */
  readonly many?: boolean;
  readonly summary: string;
  /** As a user would write it. */
  readonly default?: string;
  readonly read: Reader<T extends readonly (infer One)[] ? One : T>;
}

/** All settings; flags, variables, keys of outlast.yaml and the reference pages come from here. */
export const settings: { readonly [Name in SettingName]: Setting<SettingTypes[Name]> } = {
  store: {
    flag: "store",
    value: "URL|PATH",
    file: "store",
    summary: "where checkpoints are kept: a directory (best on a disk that outlives this machine)",
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
  step: { flag: "step", value: "N", variable: false, summary: "the checkpoint of this step", read: readCount(0) },
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
};

/** A setting's variable, such as `OUTLAST_STOP_SIGNAL`; undefined when it has none. */
export function variableOf(name: SettingName): string | undefined {
  const setting: Setting<unknown> = settings[name];
  return setting.variable === false ? undefined : `OUTLAST_${setting.flag.replaceAll("-", "_").toUpperCase()}`;
}
