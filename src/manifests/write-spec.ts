import { stringify } from "yaml";
import type { Capacity, WorkloadKind } from "../spec/workload/index.ts";

/** What `outlast init` knows of a workload. */
export interface InitAnswers {
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly accelerator: string | undefined;
  readonly capacity: readonly Capacity[] | undefined;
  readonly store: string | undefined;
  readonly dir: string | undefined;
  readonly queue: string | undefined;
  readonly results: string | undefined;
  readonly pods: number;
  readonly cluster: string | undefined;
  readonly location: string | undefined;
  readonly project: string | undefined;
}

/** A commented outlast.yaml for one workload. */
export function writeSpec(answers: InitAnswers): string {
  const { kind, name, image, command, accelerator, capacity, pods } = answers;
  const lines = [
    "# One workload. `outlast manifest` turns it into Kubernetes objects, commands and Terraform;",
    "# `outlast manifest --explain` says what happens to it. Every key: docs/reference/workload.md",
    `kind: ${kind}`,
    `name: ${scalar(name)}`,
    "",
    "# Your own image: it needs neither Node nor outlast.",
    `image: ${scalar(image)}`,
    ...(command.length > 0 ? [`command: ${list(command)}`] : []),
    "",
    ...(accelerator === undefined
      ? ["# accelerator: L4:1 # of one pod; the machine type follows from it"]
      : ["# Of one pod; the machine type follows from it.", `accelerator: ${scalar(accelerator)}`]),
    ...(pods > 1 ? [`parallelism: ${pods}`] : []),
    ...(pods > 1 && kind === "train"
      ? [
          "# independent: each pod is a run of its own (a sweep); shards: they save one checkpoint together.",
          "pods: independent",
        ]
      : []),
    "",
    ...(capacity === undefined
      ? ["# capacity: [spot, on-demand] # in order of preference; left out, it follows from the kind of work"]
      : [`capacity: ${capacity.length === 1 ? capacity[0] : list(capacity)}`]),
    "",
    ...workLines(answers),
    "# For the commands; what is left out stands there in capitals.",
    `cluster: ${clusterOf(answers)}`,
    "",
    "# An image that holds the single-file executable of outlast.",
    "# outlast: {image: REGISTRY/outlast:TAG}",
  ];
  return `${lines.join("\n")}\n`;
}

function workLines({ kind, store, dir, queue, results }: InitAnswers): readonly string[] {
  if (kind === "train") {
    return [
      "checkpoint:",
      `  dir: ${scalar(dir ?? "/ckpt")} # what the program writes to, on the node's own disk`,
      `  store: ${scalar(store ?? "gs://BUCKET/runs")} # what outlives the node`,
      "  # interval: 10m # in the trainer's own unit, with the name it reads:",
      "  # variables: {dir: CHECKPOINT_DIR, interval: CHECKPOINT_INTERVAL}",
      "",
    ];
  }
  if (kind === "batch") {
    return [
      `queue: ${scalar(queue ?? "pubsub://PROJECT/SUBSCRIPTION?topic=TOPIC")}`,
      ...(results === undefined
        ? [
            "# The address of the results database, in a Secret: it holds a password.",
            "results: {secret: results-db, key: url}",
          ]
        : [`results: ${scalar(results)}`]),
      "# workers: scaled-job # KEDA, by the queue's depth; left out: one Job until all is done",
      "",
    ];
  }
  return ["port: 8080", ""];
}

function clusterOf({ cluster, location, project }: InitAnswers): string {
  const given = Object.entries({ name: cluster, location, project }).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? "{}"
    : stringify(Object.fromEntries(given), {
        collectionStyle: "flow",
        flowCollectionPadding: false,
        lineWidth: 0,
      }).trim();
}

function scalar(text: string): string {
  return stringify(text, { lineWidth: 0 }).trim();
}

function list(items: readonly string[]): string {
  return stringify([...items], { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 }).trim();
}
