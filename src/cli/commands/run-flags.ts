import type { SettingName } from "../../spec/index.ts";

/** What `outlast run` takes. */
export const runFlags: readonly SettingName[] = [
  "store",
  "dir",
  "run",
  "grace",
  "keep",
  "stopSignal",
  "stopScope",
  "shard",
  "perIndex",
  "restoreOnly",
  "again",
  "exitOnEviction",
  "finishedWhen",
  "endsAt",
  "endsAtFile",
  "completeWhen",
  "ignore",
  "notice",
  "region",
  "maxRate",
  "noProgress",
];
