import type { RawWorkload } from "../raw.ts";
import type { SecretRef, Workload } from "../types.ts";
import { type Check, error, type Finding, warning } from "./finding.ts";

const onlyFor: Readonly<Partial<Record<keyof RawWorkload, readonly Workload["kind"][]>>> = {
  checkpoint: ["train"],
  pods: ["train"],
  completions: ["train"],
  queue: ["batch"],
  results: ["batch"],
  workers: ["batch"],
  port: ["serve"],
};

/** Keys against the kind of work. */
export const checkWork: Check = (workload, raw) => [
  ...Object.entries(onlyFor).flatMap(([key, kinds]) =>
    raw[key as keyof RawWorkload] === undefined || kinds.includes(workload.kind)
      ? []
      : [error([key], `${key} means nothing for kind: ${workload.kind}`, `leave it out, or write kind: ${kinds[0]}`)],
  ),
  ...(workload.kind === "batch" ? batch(workload) : []),
  ...(workload.kind === "train" ? training(workload, raw) : []),
  ...(workload.kind !== "serve" && workload.command.length === 0 && !handlesItself(workload)
    ? [
        error(
          ["kind"],
          "command is missing: outlast wraps it and needs to know it",
          "write command: [python, train.py]",
        ),
      ]
    : []),
  ...(raw.outlast?.image !== undefined && raw.outlast.path !== undefined
    ? [
        error(
          ["outlast"],
          "outlast.image and outlast.path are given together",
          "copy it from an image, or have it in your own",
        ),
      ]
    : []),
  ...disruption(workload),
  ...exitCode(workload),
];

/** The generated Jobs forgive one code. */
function exitCode({ kind, settings: { exitOnEviction } }: Workload): readonly Finding[] {
  if (kind === "serve" || exitOnEviction === undefined || exitOnEviction === "75") return [];
  return [
    error(
      ["run", "exitOnEviction"],
      exitOnEviction === "0"
        ? "exit 0 after an eviction makes the Job complete, and the rest of the work is never done"
        : `generated Jobs forgive exit 75, not ${String(exitOnEviction)}`,
      "leave it out",
    ),
  ];
}

function handlesItself({ kind, settings }: Workload): boolean {
  return kind === "batch" && (settings.http !== undefined || settings.handler !== undefined);
}

function training({ parallelism, completions, pods }: Workload, raw: RawWorkload): readonly Finding[] {
  const found: Finding[] = [];
  if (raw.pods === undefined && Math.max(parallelism, completions) > 1) {
    found.push(
      error(
        ["parallelism"],
        "several training pods: are they parts of one run, or runs of their own?",
        "write pods: shards or pods: independent",
      ),
    );
  }
  if (pods === "shards" && completions !== parallelism) {
    found.push(
      error(
        ["completions"],
        `shards run at the same time: ${completions} of them need parallelism ${completions}`,
        "leave completions out, or write pods: independent",
      ),
    );
  }
  if (parallelism > completions)
    found.push(error(["parallelism"], `parallelism ${parallelism} is above completions ${completions}`, "lower it"));
  return found;
}

function batch(workload: Workload): readonly Finding[] {
  const { queue, results, workers, parallelism } = workload;
  if (queue === undefined)
    return [
      error(
        ["kind"],
        "a batch needs queue",
        "write queue: pubsub://PROJECT/SUBSCRIPTION?topic=TOPIC, or {secret: NAME, key: KEY} for a database",
      ),
    ];
  const found: Finding[] = [
    ...secretInUrl(queue, "queue"),
    ...(results === undefined ? [] : secretInUrl(results, "results")),
  ];
  const isPubSub = typeof queue === "string" && queue.startsWith("pubsub:");
  if (isPubSub && results === undefined) {
    found.push(
      error(
        ["queue"],
        "Pub/Sub holds no results, and none are given: nothing could be skipped, proven or kept",
        "write results: {secret: NAME, key: KEY} with the address of a database",
      ),
    );
  }
  for (const [key, value] of [
    ["queue", queue],
    ["results", results],
  ] as const) {
    if (typeof value === "string" && value.startsWith("sqlite:") && parallelism > 1) {
      found.push(
        error([key], `a SQLite file cannot be shared by ${parallelism} pods`, "use postgres://… from a Secret"),
      );
    }
  }
  if (isPubSub && !/^pubsub:\/\/[^/]+\/[^/?]+\?(.*&)?topic=[^&]+/.test(queue)) {
    found.push(
      error(
        ["queue"],
        "a Pub/Sub queue names project, subscription and topic",
        "write pubsub://PROJECT/SUBSCRIPTION?topic=TOPIC",
      ),
    );
  }
  if (workers !== "job" && !isPubSub) {
    found.push(
      error(
        ["workers"],
        `${workers} is scaled by the depth of a Pub/Sub subscription, and the queue is another`,
        "write workers: job",
      ),
    );
  }
  return found;
}

function secretInUrl(value: string | SecretRef, key: string): readonly Finding[] {
  if (typeof value !== "string" || !/^[a-z]+:\/\/[^/?#]*:[^/?#@]*@/i.test(value)) return [];
  return [
    error(
      [key],
      `${key} holds a password in plain text`,
      `put the address into a Secret and write ${key}: {secret: NAME, key: KEY}`,
    ),
  ];
}

function disruption({ minAvailable, kind, parallelism, workers }: Workload): readonly Finding[] {
  if (minAvailable === undefined) return [];
  if (minAvailable > parallelism)
    return [error(["minAvailable"], `minAvailable ${minAvailable} is above parallelism ${parallelism}`, "lower it")];
  if (minAvailable === parallelism) {
    return [
      warning(
        ["minAvailable"],
        "no pod may be evicted at all: drains and upgrades wait for the end of their patience",
        "lower it by one, or leave it out",
      ),
    ];
  }
  if (kind === "batch" && workers === "scaled-job") {
    return [
      warning(
        ["minAvailable"],
        "workers come and go by the queue's depth: a budget would hold up drains for nothing",
        "leave it out",
      ),
    ];
  }
  return [];
}
