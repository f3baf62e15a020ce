import { describe, expect, test } from "vitest";
import { Deadline } from "../core/index.ts";
import { FakeClock, MemoryStore } from "../testing/index.ts";
import { type JournalEvent, type JournalStore, JournalWriter } from "./journal.ts";
import { journalHook } from "./journal-hook.ts";
import { readJournal } from "./read-journal.ts";
import { redactCommand } from "./redact.ts";

const time = { restoringMs: 1, runningMs: 2, stoppingMs: 3 };
const start: JournalEvent = {
  event: "start",
  attempt: 1,
  host: "node-a",
  shard: 0,
  of: 1,
  resumedStep: undefined,
  restoreMs: 5,
  command: ["python", "train.py"],
  version: "0.1.0",
};
const progress = (lastStep: number): JournalEvent => ({ event: "progress", lastStep, time });

function writerOn(store: JournalStore, clock = new FakeClock(), failures: unknown[] = []) {
  return new JournalWriter({ store, epoch: 7, clock, onFailure: (error) => failures.push(error) });
}

describe("writing", () => {
  test("events become numbered objects that read back in order", async () => {
    const store = new MemoryStore();
    const writer = writerOn(store);
    writer.record(start);
    for (let step = 1; step <= 12; step += 1) writer.record({ event: "first-step", step, afterMs: step });
    await writer.close();
    const { entries, unreadable } = await readJournal(store);
    expect(unreadable).toBe(0);
    expect(entries.map(({ epoch, k, record }) => `${epoch}/${k} ${record.event}`)).toEqual([
      "7/1 start",
      ...Array.from({ length: 12 }, (_, i) => `7/${i + 2} first-step`),
    ]);
    expect(entries[0]?.record).toMatchObject({ format: 1, at: "2026-01-01T00:00:00.000Z", host: "node-a" });
  });

  test("signs of life come seldom and replace each other", async () => {
    const store = new MemoryStore();
    const clock = new FakeClock();
    const writer = writerOn(store, clock);
    writer.record(start);
    for (let i = 1; i <= 120; i += 1) {
      writer.record(progress(i));
      await clock.advance(1000);
    }
    await writer.close();
    const { entries } = await readJournal(store);
    expect(entries.map(({ k, record }) => [k, record.event])).toEqual([
      [1, "start"],
      [2, "progress"],
    ]);
    expect(entries[1]?.record).toMatchObject({ lastStep: 91 });
  });

  test("a store that never answers holds nothing up: close ends at its deadline", async () => {
    const clock = new FakeClock();
    let aborted = false;
    const store: JournalStore = {
      put: (_key, _body, options) =>
        new Promise((_resolve, reject) => {
          options?.signal?.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("aborted"));
          });
        }),
    };
    const failures: unknown[] = [];
    const writer = writerOn(store, clock, failures);
    for (let i = 0; i < 1000; i += 1) writer.record(start);
    const closed = writer.close(Deadline.in(500, clock));
    await clock.advance(499);
    expect(aborted).toBe(false);
    await clock.advance(1);
    await closed;
    expect(aborted).toBe(true);
    expect(failures).toEqual([]);
  });

  test("a failing store is told of and the rest is still written", async () => {
    const store = new MemoryStore();
    const failures: unknown[] = [];
    let calls = 0;
    const flaky: JournalStore = {
      put: (key, body, options) => {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error("no")) : store.put(key, body, options);
      },
    };
    const writer = writerOn(flaky, new FakeClock(), failures);
    writer.record(start);
    writer.record(progress(3));
    await writer.close();
    expect(failures).toHaveLength(1);
    expect((await readJournal(store)).entries.map(({ record }) => record.event)).toEqual(["progress"]);
  });

  test("the supervisor's hook adds what only the caller knows and waits for the exit alone", async () => {
    const store = new MemoryStore();
    const hook = journalHook({
      store,
      clock: new FakeClock(),
      host: "node-a",
      shard: 1,
      of: 2,
      command: ["x"],
      version: "9",
      onFailure: () => {},
    });
    expect(hook({ event: "start", epoch: 3, attempt: 2, resumedStep: 40, restoreMs: 6 }, undefined)).toBeUndefined();
    await hook(
      {
        event: "exit",
        verdict: "evicted",
        code: 75,
        noticeToExitMs: 90,
        forced: false,
        lastStep: 50,
        committedStep: 48,
        time,
      },
      undefined,
    );
    const { entries } = await readJournal(store);
    expect(entries.map(({ epoch, k }) => `${epoch}/${k}`)).toEqual(["3/1", "3/2"]);
    expect(entries[0]?.record).toMatchObject({ host: "node-a", shard: 1, of: 2, resumedStep: 40 });
    expect(entries[0]?.record).not.toHaveProperty("epoch");
  });
});

test("what is not a record is counted and passed over", async () => {
  const store = new MemoryStore();
  const writer = writerOn(store);
  writer.record(start);
  await writer.close();
  await store.put("journal/7/2.json", Buffer.from("{ torn"));
  await store.put("journal/7/3.json", Buffer.from('{"format":2,"at":"x","event":"start"}'));
  await store.put("journal/7/notes.txt", Buffer.from("hello"));
  await store.put("journal/8/1.json", Buffer.from("null"));
  const { entries, unreadable } = await readJournal(store);
  expect([entries.length, unreadable]).toEqual([1, 4]);
});

test("secrets are taken out of a command, and nothing else", () => {
  const command = [
    "python",
    "train.py",
    "--lr=0.1",
    "--tokenizer-path=/t",
    "--hf-token",
    "hf_abc",
    "--wandb-api-key=k",
    "--use-api-key",
    "--epochs",
    "3",
    "--data=postgres://user:pw@db/x",
    "DB_PASSWORD=hunter2",
  ];
  expect(redactCommand(command)).toEqual([
    "python",
    "train.py",
    "--lr=0.1",
    "--tokenizer-path=/t",
    "--hf-token",
    "***",
    "--wandb-api-key=***",
    "--use-api-key",
    "--epochs",
    "3",
    "--data=postgres://***@db/x",
    "DB_PASSWORD=***",
  ]);
});
