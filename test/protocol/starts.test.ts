import { expect, it } from "vitest";
import { recordKey } from "../../src/checkpoint/log/record.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "./machine.ts";

it("9: a first start elsewhere is not mistaken for a lost log", async () => {
  const store = new MemoryStore();
  const s1 = new Machine(store);
  const listing = s1.store.hold("list", /^chunks\//);
  const epoch = s1.takeOver();
  await listing.reached;
  const s0 = new Machine(store);
  await s0.start();
  await s0.commit(1, { weights: "one" });
  listing.release();
  expect(await epoch).toBe(3);
});

it("9: data without a log is a lost log", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  await s0.commit(1, { weights: "one" });
  for (const key of store.objects.keys()) if (key.startsWith("r/log/")) store.objects.delete(key);
  await expect(new Machine(store).takeOver()).rejects.toMatchObject({ code: "OUTLAST_LOG_LOST" });
});

it("11: of two starts that write the same epoch record, each knows its own", async () => {
  const store = new MemoryStore();
  const machines = [new Machine(store), new Machine(store)];
  const holds = machines.map((machine) => machine.store.hold("putIfAbsent", /^log\//));
  const epochs = machines.map((machine) => machine.takeOver());
  await Promise.all(holds.map((hold) => hold.reached));
  for (const hold of holds) hold.release();
  expect(new Set(await Promise.all(epochs))).toEqual(new Set([1, 2]));
});

it("12: a sleeper's put at an old position can never succeed", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  await s0.commit(1, { weights: "one" });
  const asleep = s0.store.hold("putIfAbsent", /^log\//);
  const late = s0.ship(2, { weights: "late" });
  await asleep.reached;
  const s1 = new Machine(store);
  await s1.start();
  for (const step of [2, 3, 4, 5]) await s1.commit(step, { weights: `step ${step}` });
  await s1.prune(2);
  await s1.collect();
  asleep.release();
  await expect(late).rejects.toMatchObject({ code: "OUTLAST_SUPERSEDED" });
  const head = (await s1.log.head())?.n ?? 0;
  for (let n = 1; n <= head; n += 1) expect(store.objects.has(`r/${recordKey(n)}`)).toBe(true);
  expect(await new Machine(store).read()).toEqual({ step: 5, files: { weights: "step 5" } });
});
