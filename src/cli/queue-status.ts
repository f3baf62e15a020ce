import type { Depth } from "../results/index.ts";
import { wantedWorkers } from "../worker/index.ts";
import type { CommandArgs } from "./command.ts";
import type { QueueStatusJson } from "./json/queue.ts";

/** What a queue's depth says, with what follows from it. */
export function statusOf(queue: string, depth: Depth, { values, need }: CommandArgs): QueueStatusJson {
  const { ready, leased, delayed, dead, done, total, ratePerMinute, openPublications, interruptions, late } = depth;
  const left = ready + leased + delayed;
  const wanted = wantedWorkers(depth, {
    chunk: need("chunk"),
    chunksPerWorker: need("chunksPerWorker"),
    maxWorkers: values.maxWorkers,
  });
  return {
    schema: 1,
    queue,
    ready,
    leased,
    delayed,
    dead,
    done,
    total,
    oldestReadySeconds: depth.oldestReadySeconds ?? null,
    ratePerMinute,
    etaSeconds: left === 0 ? 0 : ratePerMinute > 0 ? Math.round((left / ratePerMinute) * 60) : null,
    wanted,
    openPublications,
    interruptions,
    late,
  };
}
