import { settings, type SettingName } from "../../spec/index.ts";
import type { SecretRef, Workload } from "../../spec/workload/index.ts";

/** Where the executable lands in the pod when an init container copies it. */
export const binMount = "/outlast";
/** Where the pod's annotations are mounted as files. */
export const podInfoMount = "/etc/outlast";
/** A file of `key="value"` lines with the pod's annotations. */
export const annotationsFile: string = `${podInfoMount}/annotations`;

/** Settings of `outlast run` that are passed on as written; the others are decided by the workload. */
const runSettings: readonly SettingName[] = [
  "stopSignal",
  "stopScope",
  "finishedWhen",
  "completeWhen",
  "ignore",
  "notice",
  "maxRate",
  "region",
  "restoreOnly",
  "logFormat",
  "logLevel",
];

/** Settings of `outlast work` that are passed on as written. */
const workSettings: readonly SettingName[] = [
  "chunk",
  "concurrency",
  "batch",
  "lease",
  "handler",
  "http",
  "itemTimeout",
  "maxResult",
  "attempts",
  "notice",
  "logFormat",
  "logLevel",
];

/** What the main container starts: outlast around the user's command, or the command itself for a server. */
export function commandLine(workload: Workload): {
  readonly command: readonly string[];
  readonly args: readonly string[];
} {
  const { kind, command, outlast } = workload;
  if (kind === "serve") return { command, args: [] };
  const program = outlast.path ?? `${binMount}/outlast`;
  const flags = kind === "train" ? runFlags(workload) : workFlags(workload);
  return { command: [program, ...flags, ...(command.length > 0 ? ["--"] : [])], args: command };
}

function runFlags(workload: Workload): string[] {
  const { checkpoint, name, graceSeconds, completions, pods } = workload;
  const several = completions > 1;
  return [
    "run",
    "--store",
    checkpoint?.store ?? "",
    "--dir",
    checkpoint?.dir ?? "",
    // Never derived from the pod: a name that changes starts at step 0.
    "--run",
    one(workload.settings.run) ?? name,
    "--grace",
    `${graceSeconds}s`,
    ...(checkpoint?.keep === undefined ? [] : ["--keep", String(checkpoint.keep)]),
    ...(several && pods === "shards" ? ["--shard", `$(JOB_COMPLETION_INDEX)/${completions}`] : []),
    ...(several && pods === "independent" ? ["--per-index"] : []),
    "--ends-at-file",
    annotationsFile,
    ...passedOn(workload, runSettings),
  ];
}

function workFlags(workload: Workload): string[] {
  const { queue, results, graceSeconds, workers } = workload;
  return [
    "work",
    ...address("queue", queue),
    ...address("results", results),
    "--grace",
    `${graceSeconds}s`,
    ...(workers === "deployment" ? [] : ["--until-drained"]),
    "--ends-at-file",
    annotationsFile,
    ...passedOn(workload, workSettings),
  ];
}

/** An address in a Secret comes as a variable instead. */
function address(flag: string, value: string | SecretRef | undefined): string[] {
  return typeof value === "string" ? [`--${flag}`, value] : [];
}

function passedOn({ settings: written }: Workload, names: readonly SettingName[]): string[] {
  return names.flatMap((name) => {
    const value = written[name];
    if (value === undefined) return [];
    const { flag, value: takesValue } = settings[name];
    if (takesValue === undefined) return value === "true" ? [`--${flag}`] : [];
    return [value].flat().flatMap((text) => [`--${flag}`, text]);
  });
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.at(-1);
}
