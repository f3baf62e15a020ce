import { join } from "node:path";
import type { WorkerEvents, WorkerOptions, WorkerResult } from "../../src/worker/index.ts";
import { createWorker, type Worker } from "../../src/worker/index.ts";
import { MemoryQueue } from "../support/memory-queue.ts";

/** The command line of the handler that misbehaves as told. */
export const handlerCommand = (...flags: readonly string[]): readonly string[] => [
  process.execPath,
  join(import.meta.dirname, "fixtures/handler.mjs"),
  ...flags,
];

/** A worker over a queue in memory, with everything it told. */
export interface Scene {
  readonly queue: MemoryQueue;
  readonly worker: Worker;
  readonly told: { readonly name: keyof WorkerEvents; readonly data: unknown }[];
  readonly stderr: () => string;
  /** Warnings as one text. */
  readonly warnings: () => string;
}

const names = [
  "worker:notice",
  "worker:handed-back",
  "worker:lease-lost",
  "worker:dead",
  "worker:failure",
  "worker:warning",
] as const;

/** Starts a worker on `ids` with a handler of those flags. */
export function startScene(queue: MemoryQueue, flags: readonly string[], options: Partial<WorkerOptions> = {}): Scene {
  const told: { name: keyof WorkerEvents; data: unknown }[] = [];
  let stderr = "";
  const worker = createWorker({
    queue,
    handler: { kind: "command", command: handlerCommand(...flags) },
    untilDrained: true,
    random: () => 0,
    onStderr: (bytes) => {
      stderr += Buffer.from(bytes).toString();
    },
    ...options,
  });
  for (const name of names) worker.events.on(name, (data) => told.push({ name, data }));
  return {
    queue,
    worker,
    told,
    stderr: () => stderr,
    warnings: () => JSON.stringify(told.filter(({ name }) => name === "worker:warning").map(({ data }) => data)),
  };
}

/** Runs a worker to its end. */
export async function work(
  ids: readonly string[],
  flags: readonly string[] = [],
  options: Partial<WorkerOptions> = {},
): Promise<Scene & { readonly result: WorkerResult }> {
  const scene = startScene(new MemoryQueue().add(...ids), flags, options);
  return { ...scene, result: await scene.worker.promise };
}

/** `a0, a1, …` */
export const some = (count: number, name = "a"): string[] => Array.from({ length: count }, (_, i) => `${name}${i}`);
