import { type Reader, readBytes, readCount, readDuration, readFlag, readNumber, readText } from "./readers.ts";
import type { Setting } from "./setting.ts";

/** An accelerator and how many of them a node has. */
export interface AcceleratorOf {
  readonly type: string;
  readonly count: number;
}

/** Settings of `outlast plan`. Lengths of time are milliseconds, `hours` and `deadline` hours. */
export interface PlanSettingTypes {
  readonly hours: number;
  readonly deadline: number;
  readonly accelerator: AcceleratorOf;
  readonly machine: string;
  readonly nodes: number;
  readonly churn: number;
  readonly shape: number;
  readonly shared: number;
  readonly saveTime: number;
  readonly uploadTime: number;
  readonly restartTime: number;
  readonly waitTime: number;
  readonly flexWait: number;
  readonly noticeFits: number;
  readonly interval: number;
  readonly stepTime: number;
  readonly confidence: number;
  readonly onDemand: number;
  readonly spot: number;
  readonly flexStart: number;
  readonly prices: string;
  readonly history: readonly string[];
  readonly checkpointSize: number;
  readonly runs: number;
  readonly seed: number;
  readonly html: string;
  readonly matrix: boolean;
}

/** `A100:8`, or `L4` for one. */
const readAccelerator: Reader<AcceleratorOf> = (text, what) => {
  const [type = "", count = "1", more] = text.split(":");
  if (type.trim() === "" || more !== undefined) return { type: readText("", what), count: 0 };
  return { type: type.trim(), count: readCount(1, 64)(count, `${what}'s count`) };
};

const some = (why: string) => readDuration(0, why);

/** The rows of `outlast plan` in the table of settings. */
export const planSettings: { readonly [Name in keyof PlanSettingTypes]: Setting<PlanSettingTypes[Name]> } = {
  hours: {
    flag: "hours",
    value: "H",
    file: "plan.hours",
    summary: "hours of work, undisturbed, on all nodes together",
    read: readNumber(0),
  },
  deadline: {
    flag: "deadline",
    value: "H",
    file: "plan.deadline",
    summary: "hours from now by which it must be over",
    read: readNumber(0),
  },
  accelerator: {
    flag: "accelerator",
    value: "TYPE:N",
    file: "plan.accelerator",
    summary: "accelerators of one node, such as A100:8 or L4:1",
    read: readAccelerator,
  },
  machine: {
    flag: "machine",
    value: "TYPE",
    file: "plan.machine",
    summary: "machine type, such as a2-highgpu-8g",
    read: readText,
  },
  nodes: {
    flag: "nodes",
    value: "N",
    file: "plan.nodes",
    default: "1",
    summary: "nodes that run, and break, together",
    read: readCount(1, 100_000),
  },
  churn: {
    flag: "churn",
    value: "PER_HOUR",
    file: "plan.churn",
    summary: "preemptions per node and running hour; measured ones (--store with --run, --history) are better",
    read: readNumber(0),
  },
  shape: {
    flag: "shape",
    value: "K",
    file: "plan.shape",
    summary: "Weibull shape of node lifetimes; below 1 young nodes die more, 1 is memoryless (the default)",
    read: readNumber(0),
  },
  shared: {
    flag: "shared",
    value: "SHARE",
    file: "plan.shared",
    summary: "share of preemptions that take the whole gang at once (0.9)",
    read: readNumber(0, 1),
  },
  saveTime: {
    flag: "save-time",
    value: "TIME",
    file: "plan.saveTime",
    summary: "how long the program stands still for one save (30s)",
    read: some("a save takes some time"),
  },
  uploadTime: {
    flag: "upload-time",
    value: "TIME",
    file: "plan.uploadTime",
    summary: "from the end of that stall until the save is safe (1m, or by --checkpoint-size)",
    read: some("an upload takes some time"),
  },
  restartTime: {
    flag: "restart-time",
    value: "TIME",
    file: "plan.restartTime",
    summary: "boot, image pull and restore (10m)",
    read: some("a restart takes some time"),
  },
  waitTime: {
    flag: "wait-time",
    value: "TIME",
    file: "plan.waitTime",
    summary: "mean wait for Spot capacity after a preemption (5m)",
    read: some("a wait takes some time"),
  },
  flexWait: {
    flag: "flex-wait",
    value: "TIME",
    file: "plan.flexWait",
    summary: "mean wait for flex-start capacity; nobody publishes it, so it is not assumed",
    read: some("a wait takes some time"),
  },
  noticeFits: {
    flag: "notice-fits",
    value: "SHARE",
    file: "plan.noticeFits",
    summary: "share of preemptions in which the newest state is saved within the notice (0)",
    read: readNumber(0, 1),
  },
  interval: {
    flag: "interval",
    value: "TIME",
    file: "plan.interval",
    summary: "work between two saves, to compare it with the best",
    read: some("give it some time"),
  },
  stepTime: {
    flag: "step-time",
    value: "TIME",
    file: "plan.stepTime",
    summary: "one training step, to give the interval in steps",
    read: some("a step takes some time"),
  },
  confidence: {
    flag: "confidence",
    value: "SHARE",
    file: "plan.confidence",
    summary: "how sure the deadline must be (0.95)",
    read: readNumber(0, 1),
  },
  onDemand: {
    flag: "on-demand",
    value: "PRICE",
    file: "plan.onDemand",
    summary: "price of a node and hour",
    read: readNumber(0),
  },
  spot: {
    flag: "spot",
    value: "PRICE",
    file: "plan.spot",
    summary: "price of a Spot node and hour",
    read: readNumber(0),
  },
  flexStart: {
    flag: "flex-start",
    value: "PRICE",
    file: "plan.flexStart",
    summary: "price of a flex-start node and hour",
    read: readNumber(0),
  },
  prices: {
    flag: "prices",
    value: "FILE",
    file: "plan.prices",
    summary: "prices as CSV or JSON, or the answer of Compute Engine's advice.capacityHistory",
    read: readText,
  },
  history: {
    flag: "history",
    value: "FILE",
    file: "plan.history",
    many: true,
    summary: "measurements: our JSON, or a Cloud Monitoring export of kubernetes.io/node/interruption_count",
    read: readText,
  },
  checkpointSize: {
    flag: "checkpoint-size",
    value: "SIZE",
    file: "plan.checkpointSize",
    summary: "size of one checkpoint, for the upload time and transfer costs",
    read: readBytes,
  },
  runs: {
    flag: "runs",
    value: "N",
    variable: false,
    default: "20000",
    summary: "simulated runs behind each band",
    read: readCount(100, 1_000_000),
  },
  seed: {
    flag: "seed",
    value: "N",
    variable: false,
    default: "1",
    summary: "the same seed gives the same numbers",
    read: readCount(0, 2 ** 31),
  },
  html: {
    flag: "html",
    value: "FILE",
    variable: false,
    summary: "also write one self-contained page with charts",
    read: readText,
  },
  matrix: {
    flag: "matrix",
    variable: false,
    summary: "the decision matrix: kinds of work by kinds of capacity",
    read: readFlag,
  },
};
