import { expect, it } from "vitest";
import { commitAt, restorable } from "../../src/checkpoint/log/state.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "./machine.ts";
import { chunksOf, destroyChunk } from "./objects.ts";

it("1: a later start does not undo the commits before it", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  const c0 = await s0.commit(1, { weights: "one" });
  const s1 = new Machine(store);
  expect((await s1.start()).target?.at).toBe(c0);
  const s2 = new Machine(store);
  expect((await s2.start()).target?.at).toBe(c0);
  expect(s2.files).toEqual({ weights: "one" });
});

it("2: a retired commit is still live until a drop names it", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  const c0 = await s0.commit(1, { weights: "one" });
  const c1 = await s0.commit(2, { weights: "two" });
  destroyChunk(store, "two");
  const s1 = new Machine(store);
  expect((await s1.start()).target?.at).toBe(c0);
  const c2 = await s1.commit(2, { weights: "two again" });
  const state = await s1.state();
  expect(commitAt(state, c1)).toMatchObject({ retired: true });
  // Step 1 is saved once more: everything before it is an abandoned branch now, yet two whole commits must remain.
  const s2 = new Machine(store);
  await s2.start();
  const c3 = await s2.commit(1, { weights: "one again" });
  await s2.collect();
  await s2.prune(2);
  await s2.collect();
  expect(restorable(await s2.state()).map((commit) => commit.at)).toEqual([c3, c2]);
  expect(chunksOf(store, "two again")).toHaveLength(1);
});

it("8: an older step that waited behind a newer one is discarded", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  const held = s0.store.hold("putIfAbsent", /^log\//);
  const three = s0.ship(3, { weights: "three" });
  await held.reached;
  const four = await s0.ship(4, { weights: "four" });
  held.release();
  expect([four.kind, (await three).kind]).toEqual(["committed", "older"]);
  expect(await new Machine(store).read()).toEqual({ step: 4, files: { weights: "four" } });
  expect((await s0.state()).commits.map((commit) => [commit.step, commit.retired])).toEqual([[4, false]]);
});

it("13: after falling back, the newest is the last that was committed, not the highest step", async () => {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  await s0.start();
  await s0.commit(400, { weights: "four" });
  await s0.commit(500, { weights: "five" });
  destroyChunk(store, "five");
  const s1 = new Machine(store);
  expect((await s1.start()).target?.step).toBe(400);
  await s1.commit(450, { weights: "four and a half" });
  const s2 = new Machine(store);
  expect((await s2.start()).target?.step).toBe(450);
  // The same without any damage: going on from 450, somebody saves 420.
  await s2.commit(420, { weights: "a little over four" });
  expect((await new Machine(store).read()).step).toBe(420);
  expect((await new Machine(store).start()).target?.step).toBe(420);
});
