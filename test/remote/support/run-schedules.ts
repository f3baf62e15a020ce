import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransfer } from "../../../src/checkpoint/index.ts";
import { openStore } from "../../../src/storage/index.ts";
import { startFaultProxy } from "../../servers/fault-proxy.ts";
import type { RunningService } from "./buckets.ts";
import { Schedule, type ScheduleTally, type ScheduleWorld } from "./schedule.ts";

/** How many, and from which seed on. */
export interface ScheduleRun {
  readonly what: string;
  readonly seed: number;
  readonly count: number;
  /** How many go on at a time. */
  readonly atOnce: number;
}

/** Schedules that share a bucket: fake-gcs-server looks at every object of one to list any of them. */
const aBucket = 50;
/** Nothing here tests the local disk; what is written there should cost as little as possible. */
const memoryDisk = "/dev/shm";

/** Runs schedules over a fault proxy; answers with what went wrong, and prints what was done. */
export async function runSchedules(
  server: Pick<RunningService, "url" | "host" | "storeAt" | "createBucket">,
  run: ScheduleRun,
): Promise<readonly string[]> {
  const running = new Map<string, Schedule>();
  const proxy = await startFaultProxy({
    target: server.url,
    host: server.host,
    decide: (request) => running.get(/^runs\/([^/]+)\//.exec(request.key)?.[1] ?? "")?.plan.decide(request),
  });
  const transfer = createTransfer({ inline: true });
  const root = await mkdtemp(join(existsSync(memoryDisk) ? memoryDisk : tmpdir(), "outlast-schedules-"));
  const worlds = new Map<number, Promise<ScheduleWorld>>();
  const open = async (bucket: string): Promise<ScheduleWorld> => {
    await server.createBucket(bucket);
    return {
      faulty: await openStore(server.storeAt(proxy.url, bucket), { access: "write" }),
      clean: await openStore(server.storeAt(server.url, bucket), { access: "write" }),
      transfer,
      root,
      settled: () => proxy.settled(),
    };
  };
  const worldOf = (seed: number): Promise<ScheduleWorld> => {
    const number = Math.floor((seed - run.seed) / aBucket);
    const world = worlds.get(number) ?? open(`schedules-${number}`);
    worlds.set(number, world);
    return world;
  };
  const started = performance.now();
  const cpu = process.cpuUsage();
  const faults: string[] = [];
  const total: ScheduleTally = { starts: 0, failedStarts: 0, kills: 0, twins: 0, saves: 0, commits: 0, restores: 0 };
  let next = run.seed;
  const worker = async () => {
    while (next < run.seed + run.count && faults.length < 5) {
      const seed = next++;
      const schedule = new Schedule(seed, await worldOf(seed));
      running.set(schedule.run, schedule);
      await schedule.execute().catch((error: Error) => faults.push(describe(schedule, error)));
      running.delete(schedule.run);
      for (const name of Object.keys(total) as (keyof ScheduleTally)[]) total[name] += schedule.tally[name];
    }
  };
  try {
    await Promise.all(Array.from({ length: run.atOnce }, worker));
  } finally {
    await proxy.stop();
    await transfer.close();
    await rm(root, { recursive: true, force: true });
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const { user, system } = process.cpuUsage(cpu);
  const done = [...proxy.done].toSorted(([a], [b]) => (a < b ? -1 : 1));
  process.stderr.write(
    `${run.what}: ${next - run.seed} schedules in ${seconds} s (${((user + system) / 1e6).toFixed(1)} s of CPU) over ${proxy.count} requests; ` +
      `${Object.entries(total)
        .map(([name, count]) => `${count} ${name}`)
        .join(", ")}; faults: ${done.map(([name, count]) => `${count} ${name}`).join(", ")}\n`,
  );
  return faults;
}

function describe(schedule: Schedule, error: Error): string {
  const again = `OUTLAST_SEED=${schedule.run.slice(1)} OUTLAST_SCHEDULES=1`;
  return `${error.message}\n${stackOf(error.cause)}\nagain: ${again}`;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? `${error.stack}` : `${error.stack}\ncaused by ${stackOf(error.cause)}`;
}
