import { expect, test } from "vitest";
import type { ObjectStore } from "../storage/index.ts";
import { FakeClock, MemoryStore } from "../testing/index.ts";
import { listRuns, readCommitHistory } from "./commit-history.ts";
import { RunLog } from "./log/run-log.ts";
import { openRun } from "./run-store.ts";

async function logOf(store: MemoryStore, name: string, steps: readonly number[], clock = new FakeClock()) {
  const log = new RunLog(openRun(store, name), { clock });
  await log.append(() => ({ append: { kind: "epoch", shard: 0, of: 1, hash: "sha256" } }));
  for (const step of steps) {
    await log.append((head) => {
      const epoch = head?.state.epochs[0]?.epoch ?? 0;
      const fields = {
        manifests: [{ shard: 0, key: `m${step}`, hash: "00" }],
        reuses: [],
        bytes: 10 * step,
        files: 1,
        savedAt: "2026-01-01T00:00:00.000Z",
      };
      return { append: { kind: "commit", epoch, gang: head?.state.gang ?? epoch, step, ...fields } };
    });
  }
  return log;
}

test("every commit is told, dropped ones too", async () => {
  const store = new MemoryStore();
  const clock = new FakeClock();
  const log = await logOf(store, "bert", [1, 2, 3, 4], clock);
  await log.append(() => ({ append: { kind: "drop", commits: [2] } }));
  const { commits, finished, readFrom } = await readCommitHistory(openRun(store, "bert"), { clock });
  expect(commits.map(({ position, step, epoch, bytes }) => [position, step, epoch, bytes])).toEqual([
    [2, 1, 1, 10],
    [3, 2, 1, 20],
    [4, 3, 1, 30],
    [5, 4, 1, 40],
  ]);
  expect([finished, readFrom]).toEqual([false, 1]);
});

test("of a long log only the newest part is read, and that is said", async () => {
  const store = new MemoryStore();
  const clock = new FakeClock();
  await logOf(store, "bert", [1, 2, 3, 4, 5], clock);
  const { commits, readFrom } = await readCommitHistory(openRun(store, "bert"), { clock, most: 2 });
  expect([commits.map(({ step }) => step), readFrom]).toEqual([[4, 5], 5]);
});

test("a run that is not there is an error of its own", async () => {
  const reading = readCommitHistory(openRun(new MemoryStore(), "nobody"), { clock: new FakeClock() });
  await expect(reading).rejects.toMatchObject({ code: "OUTLAST_RUN_UNKNOWN" });
});

test("runs are those with a log", async () => {
  const store = new MemoryStore();
  await logOf(store, "b", [1]);
  await logOf(store, "a", []);
  await store.put("no-log/chunks/aa/aa00.1-1", new Uint8Array(1));
  await store.put("deep/er/log/00000000000000000001.json", new Uint8Array(1));
  expect(await listRuns(store)).toEqual(["a", "b"]);
});

test("finding the runs of a store asks for a few names, however many objects there are", async () => {
  const store = new MemoryStore();
  const runs = ["a", "b", "c"];
  for (const run of runs) await logOf(store, run, [1]);
  for (let n = 0; n < 10_000; n += 1) {
    await store.put(`${runs[n % 3]}/chunks/${String(n % 100).padStart(2, "0")}/${n}.1-1`, new Uint8Array(1));
  }
  const counts = { calls: 0, entries: 0 };
  const counted = <T>(list: AsyncIterable<T>): AsyncIterable<T> => {
    counts.calls += 1;
    return (async function* () {
      for await (const entry of list) {
        counts.entries += 1;
        yield entry;
      }
    })();
  };
  const counting: ObjectStore = {
    url: store.url,
    put: () => Promise.reject(new Error("nothing is written")),
    putIfAbsent: () => Promise.reject(new Error("nothing is written")),
    get: (key, options) => {
      counts.calls += 1;
      return store.get(key, options);
    },
    list: (prefix, options) => counted(store.list(prefix, options)),
    folders: (prefix, options) => counted(store.folders(prefix, options)),
    delete: () => Promise.reject(new Error("nothing is deleted")),
  };
  expect(await listRuns(counting)).toEqual(runs);
  expect(counts.calls).toBeLessThanOrEqual(1 + runs.length);
  expect(counts.entries).toBeLessThanOrEqual(2 * runs.length);
});
