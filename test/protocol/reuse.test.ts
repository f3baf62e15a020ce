import { expect, it } from "vitest";
import { commitAt } from "../../src/checkpoint/log/state.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "./machine.ts";
import { chunksOf, corruptChunk, destroyChunk } from "./objects.ts";

it("3: a chunk planned for reuse whose commit was dropped meanwhile is sent again", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  await s0.commit(1, { weights: "one" });
  const c1 = await s0.commit(2, { weights: "two" });
  const s1 = new Machine(store);
  expect((await s1.start()).target?.at).toBe(c1);
  // Its second shipment is planned with a chunk of C1 …
  const held = s1.store.hold("put", /^steps\/3\//);
  const second = s1.ship(3, { weights: "two" });
  await held.reached;
  // … its first retires C1, which is dropped and deleted …
  await s1.commit(2, { weights: "two, done differently" });
  await new Machine(store).prune(2);
  expect(commitAt(await s1.state(), c1)).toBeUndefined();
  expect(chunksOf(store, "two")).toEqual([]);
  // … and only then is the second committed.
  held.release();
  expect((await second).kind).toBe("committed");
  expect(await new Machine(store).read()).toEqual({ step: 3, files: { weights: "two" } });
});

it("4: only chunks of the commit that was restored and verified are reused, not those of any live commit", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  await s0.commit(1, { weights: "old" });
  await s0.commit(2, { weights: "two" });
  destroyChunk(store, "old");
  const s1 = new Machine(store);
  expect((await s1.start()).target?.step).toBe(2);
  await s1.commit(3, { weights: "old" });
  expect(await new Machine(store).read()).toEqual({ step: 3, files: { weights: "old" } });
});

it("5: damage is written down, so that retention does not count on it", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  const c0 = await s0.commit(1, { weights: "one" });
  // The next two share a chunk that is spoilt later; nothing but reading it shows that.
  await s0.commit(2, { shared: "shared", weights: "two" });
  await s0.commit(3, { shared: "shared", weights: "three" });
  corruptChunk(store, "shared");
  const s1 = new Machine(store);
  expect((await s1.start()).target?.at).toBe(c0);
  await new Machine(store).prune(2);
  expect((await new Machine(store).read()).files).toEqual({ weights: "one" });
  expect((await s1.state()).commits.map((commit) => commit.damaged)).toEqual([false, true, true]);
});

it("6: a drop is decided anew after a collision", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  const c0 = await s0.commit(1, { weights: "one" });
  await s0.commit(2, { weights: "two" });
  const c2 = await s0.commit(3, { weights: "three" });
  corruptChunk(store, "three");
  const pruner = new Machine(store);
  const held = pruner.store.hold("putIfAbsent", /^log\//);
  const pruned = pruner.prune(2);
  await held.reached;
  // Before its drop of C0 is written, a start takes the position and finds C2 damaged: C0 is one of the last two now.
  const s1 = new Machine(store);
  await s1.start();
  held.release();
  await pruned;
  const state = await s1.state();
  // What goes is the damaged one.
  expect([commitAt(state, c0)?.at, commitAt(state, c2)?.at]).toEqual([c0, undefined]);
  expect(chunksOf(store, "one")).toHaveLength(1);
});

it("7: what an epoch after the head read has uploaded is not taken for a leftover", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  await s0.commit(1, { weights: "one" });
  const collector = new Machine(store);
  const listing = collector.store.hold("list", /^chunks\//);
  const collected = collector.collect();
  await listing.reached;
  const s1 = new Machine(store);
  await s1.start();
  const committing = s1.store.hold("putIfAbsent", /^log\//);
  const shipped = s1.ship(2, { weights: "two" });
  await committing.reached;
  listing.release();
  await collected;
  committing.release();
  expect((await shipped).kind).toBe("committed");
  expect(await new Machine(store).read()).toEqual({ step: 2, files: { weights: "two" } });
});

it("7: what an ended epoch left behind is collected", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  await s0.commit(1, { weights: "one" });
  const dying = s0.store.hold("putIfAbsent", /^log\//);
  void s0.ship(2, { weights: "never committed" });
  await dying.reached;
  const s1 = new Machine(store);
  await s1.start();
  expect((await s1.collect()).deletedObjects).toBe(2);
  expect(chunksOf(store, "never committed")).toEqual([]);
  expect((await new Machine(store).read()).files).toEqual({ weights: "one" });
});
