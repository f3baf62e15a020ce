import { describe, expect, it } from "vitest";
import { settleTarget } from "../../src/checkpoint/settle-target.ts";
import { endOfTenure } from "../../src/checkpoint/tenure.ts";
import { OutlastError } from "../../src/core/index.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "./machine.ts";
import { destroyChunk } from "./objects.ts";

async function twoSteps(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const machine = new Machine(store);
  await machine.start();
  for (const step of [1, 2]) await machine.commit(step, { weights: `step ${step}` });
  return store;
}

describe("a start", () => {
  it("resumes from nothing in a new run", async () => {
    expect(await new Machine(new MemoryStore()).start()).toMatchObject({
      target: undefined,
      tenure: { epoch: 1, gang: 1 },
    });
  });

  it("refuses to start over when everything is damaged, and says so again next time", async () => {
    const store = await twoSteps();
    for (const step of [1, 2]) destroyChunk(store, `step ${step}`);
    for (const _ of [1, 2]) {
      await expect(new Machine(store).start()).rejects.toMatchObject({
        code: "OUTLAST_NO_GOOD_CHECKPOINT",
        exitCode: 76,
      });
    }
  });

  it("does not call damage what the store could not give", async () => {
    const store = await twoSteps();
    const machine = new Machine(store);
    const unreachable = new OutlastError("OUTLAST_STORE_UNREACHABLE", "no network");
    const settled = settleTarget(machine.run, machine.log, {
      shard: 0,
      of: 1,
      epoch: await machine.takeOver(),
      clock: machine.clock,
      restore: () => Promise.reject(unreachable),
    });
    await expect(settled).rejects.toBe(unreachable);
    expect((await machine.state()).commits.some((commit) => commit.damaged)).toBe(false);
  });

  it("chooses again when its target is dropped while it restores", async () => {
    const store = await twoSteps();
    const before = new Machine(store);
    await before.start();
    const newest = await before.commit(3, { weights: "step 3" });
    const machine = new Machine(store);
    const epoch = await machine.takeOver();
    const fetching = machine.store.hold("get", /^chunks\//);
    const settled = machine.settle(epoch);
    await fetching.reached;
    await new Machine(store).log.append<never>(() => ({ append: { kind: "drop", commits: [newest] } }));
    destroyChunk(store, "step 3");
    fetching.release();
    expect((await settled).target?.step).toBe(2);
    expect((await machine.state()).commits.some((commit) => commit.damaged)).toBe(false);
  });

  it("goes when it is overtaken while it restores, and writes no damage", async () => {
    const store = await twoSteps();
    destroyChunk(store, "step 2");
    const old = new Machine(store);
    const epoch = await old.takeOver();
    const fetching = old.store.hold("get", /^chunks\//);
    const settled = old.settle(epoch);
    await fetching.reached;
    const next = new Machine(store);
    expect((await next.start()).target?.step).toBe(1);
    fetching.release();
    await expect(settled).rejects.toMatchObject({ code: "OUTLAST_SUPERSEDED", exitCode: 77 });
  });

  it("tells the others in the words of their exit codes", async () => {
    const store = new MemoryStore();
    const one = new Machine(store, { shard: 0, of: 2 });
    const two = new Machine(store, { shard: 1, of: 2 });
    await Machine.awaitAll([one, two], [one.start(), two.start()]);
    const next = new Machine(store, { shard: 0, of: 2 });
    await next.takeOver();
    const state = await next.state();
    expect(endOfTenure(state, "r", one.tenure)?.exitCode).toBe(77);
    expect(endOfTenure(state, "r", two.tenure)?.exitCode).toBe(75);
  });
});

describe("a shipment", () => {
  it("that was committed although its reply was lost is not committed twice", async () => {
    const store = await twoSteps();
    const machine = new Machine(store);
    await machine.start();
    const first = await machine.commit(3, { weights: "step 3" });
    expect(await machine.commit(3, { weights: "step 3" })).toBe(first);
    expect((await machine.state()).committed).toBe(3);
  });

  it("of an overtaken start is refused before anything is sent once it has seen that", async () => {
    const store = await twoSteps();
    const old = new Machine(store);
    await old.start();
    await new Machine(store).start();
    await old.state();
    const before = store.objects.size;
    await expect(old.ship(3, { weights: "step 3" })).rejects.toMatchObject({ code: "OUTLAST_SUPERSEDED" });
    expect(store.objects.size).toBe(before);
  });
});
