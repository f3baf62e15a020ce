import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openQueue } from "../../src/queue/index.ts";
import type { Job } from "./job.ts";
import { closePlaces, isHere, layouts, openJob, openPlaces, type Places } from "./layouts.ts";

let places: Places;
const jobs: Job[] = [];
beforeAll(async () => {
  places = await openPlaces();
}, 120_000);
afterEach(async () => {
  for (const job of jobs.splice(0)) await job.killAll();
});
afterAll(() => closePlaces(places));

const timeout = 120_000;

/** Starts whatever can be had within `waitMs`, as another worker would; gives back how many items that were. */
async function startAll(job: Job, wanted: number, waitMs: number): Promise<readonly number[]> {
  const { queue: url, results, env = {} } = job.layout;
  for (const [name, value] of Object.entries(env)) process.env[name] = value;
  const limits = { attempts: 5, suspectAfter: 2, lonelyInterruptions: 20 };
  const queue = await openQueue(url, results, { holder: "another", leaseMs: 60_000, limits });
  const failures: number[] = [];
  try {
    for (const until = performance.now() + waitMs; failures.length < wanted && performance.now() < until; ) {
      const deliveries = await queue.pull(100, { waitMs: 200 });
      for (const outcome of await queue.start(deliveries, { isIdle: false })) {
        if (outcome.kind === "started") failures.push(outcome.failures);
      }
    }
    return failures;
  } finally {
    await queue.close();
  }
}

describe.each(layouts)("%s: how a worker's end looks to the others", (name) => {
  describe.skipIf(!isHere(name))("with everything it needs", () => {
    const open = async (items: number) => {
      const job = await openJob(name, places);
      jobs.push(job);
      await job.publish(items);
      return { job, gate: join(job.folder, "gate") };
    };

    test("SIGTERM with a full chunk: all of it can be had at once, uncharged", { timeout }, async () => {
      const { job, gate } = await open(20);
      const worker = job.startWorker({ by: "evicted", gate, flags: ["--lease", "600s"] });
      await job.untilBegun("evicted");
      worker.kill("SIGTERM");
      expect((await worker.ended).code).toBe(75);
      // Sooner than any lease ends; the bench says how soon.
      expect(await startAll(job, 20, 5000)).toEqual(Array.from({ length: 20 }, () => 0));
    });

    test("SIGKILL: all of it can be had when the lease is over, and not before", { timeout }, async () => {
      const { job, gate } = await open(20);
      const worker = job.startWorker({ by: "killed", gate, flags: ["--lease", "10s"] });
      await job.untilBegun("killed");
      worker.kill("SIGKILL");
      await worker.ended;
      expect(await startAll(job, 20, 1000)).toEqual([]);
      expect(await startAll(job, 20, 30_000)).toEqual(Array.from({ length: 20 }, () => 0));
    });

    test("a frozen worker that wakes up changes nothing that was settled meanwhile", { timeout }, async () => {
      const { job, gate } = await open(10);
      const frozen = job.startWorker({ by: "frozen", gate });
      await job.untilBegun("frozen");
      frozen.kill("SIGSTOP");
      const other = await job.startWorker({ by: "other" }).ended;
      expect(other.code, other.stderr).toBe(0);
      await writeFile(gate, "");
      frozen.kill("SIGCONT");
      const { code, stderr } = await frozen.ended;
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('"late":10');
      expect(await job.audit()).toMatchObject({ ok: true, published: 10, done: 10, dead: 0, duplicates: [], late: 10 });
      expect(new Set([...(await job.results()).values()].map(({ by }) => by))).toEqual(new Set(["other"]));
      expect((await job.executionsBy("frozen")).length).toBeGreaterThan(0);
      expect(await job.layout.failures()).toBe(0);
    });
  });
});
