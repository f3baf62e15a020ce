import { describe, expect, it } from "vitest";
import { collectLeftovers } from "../../src/checkpoint/retention/collect.ts";
import { pruneCommits } from "../../src/checkpoint/retention/prune.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "./machine.ts";
import { chunksOf, destroyChunk } from "./objects.ts";

async function threeSteps(): Promise<{ store: MemoryStore; machine: Machine }> {
  const store = new MemoryStore();
  const machine = new Machine(store);
  await machine.start();
  for (const step of [1, 2, 3]) await machine.commit(step, { shared: "shared", weights: `step ${step}` });
  return { store, machine };
}

const steps = async (machine: Machine) => (await machine.state()).commits.map((commit) => commit.step);

describe("pruning", () => {
  it("drops, then deletes what only the dropped one named", async () => {
    const { store, machine } = await threeSteps();
    const { plan, deletedObjects, freedBytes } = await machine.prune(2);
    expect(plan.drop.map((commit) => commit.step)).toEqual([1]);
    expect([deletedObjects, freedBytes]).toEqual([2, 6]);
    expect([chunksOf(store, "step 1"), chunksOf(store, "shared").length]).toEqual([[], 1]);
    expect(await steps(machine)).toEqual([2, 3]);
  });

  it("only says what it would do when asked to", async () => {
    const { store, machine } = await threeSteps();
    const before = new Map(store.objects);
    const { plan, deletedObjects } = await pruneCommits(machine.run, machine.log, { keep: 2, dryRun: true });
    expect([plan.drop.length, deletedObjects]).toEqual([1, 0]);
    expect(store.objects).toEqual(before);
  });

  it("does nothing to an empty log", async () => {
    expect(await new Machine(new MemoryStore()).prune(2)).toMatchObject({ plan: { keep: [], drop: [] } });
  });

  it("keeps an older one while one of the newest two has lost something, and drops nothing that is newer", async () => {
    const { store, machine } = await threeSteps();
    await machine.commit(4, { weights: "step 4" });
    destroyChunk(store, "step 4");
    await machine.prune(2);
    expect(await steps(machine)).toEqual([2, 3, 4]);
    expect(chunksOf(store, "step 2")).toHaveLength(1);
  });

  it("deletes nothing while what a kept one names cannot be read", async () => {
    const { store, machine } = await threeSteps();
    await machine.commit(4, { shared: "shared", weights: "step 4" });
    const newest = (await machine.state()).commits.at(-1)?.manifests[0]?.key;
    store.objects.delete(`r/${newest}`);
    expect((await machine.prune(2)).deletedObjects).toBe(0);
    expect(chunksOf(store, "step 1")).toHaveLength(1);
    // The next start finds it damaged; once it is dropped, everything goes.
    const next = new Machine(store);
    await next.start();
    await next.prune(2);
    await next.collect();
    expect(await steps(next)).toEqual([2, 3]);
    expect([chunksOf(store, "step 1"), chunksOf(store, "step 4")]).toEqual([[], []]);
  });
});

describe("collecting leftovers", () => {
  it("leaves what the current start has under way, unless it says that it gave it up", async () => {
    const { store, machine } = await threeSteps();
    const held = machine.store.hold("putIfAbsent", /^log\//);
    void machine.ship(4, { weights: "under way" });
    await held.reached;
    expect((await new Machine(store).collect()).deletedObjects).toBe(0);
    const other = new Machine(store);
    const given = new Set([`${machine.tenure.epoch}-4`]);
    expect((await collectLeftovers(other.run, other.log, given)).deletedObjects).toBe(2);
    expect(chunksOf(store, "under way")).toEqual([]);
  });

  it("leaves objects that it does not know, and finishes what a killed prune began", async () => {
    const { store, machine } = await threeSteps();
    store.objects.set("r/chunks/zz/other", Buffer.from("?"));
    const deleting = machine.store.hold("delete", /./);
    void machine.prune(2);
    await deleting.reached;
    const next = new Machine(store);
    await next.start();
    expect((await next.collect()).deletedObjects).toBeGreaterThanOrEqual(1);
    expect(store.objects.has("r/chunks/zz/other")).toBe(true);
    expect((await next.read()).step).toBe(3);
  });
});
