import { describe, expect, it } from "vitest";
import { readNewest } from "../../src/checkpoint/read-newest.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "./machine.ts";
import { corruptChunk, destroyChunk } from "./objects.ts";

async function twoSteps(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const machine = new Machine(store);
  await machine.start();
  for (const step of [1, 2]) await machine.commit(step, { weights: `step ${step}` });
  return store;
}

describe("reading without writing to the log", () => {
  it("passes over what is damaged, and marks nothing", async () => {
    const store = await twoSteps();
    corruptChunk(store, "step 2");
    const reader = new Machine(store);
    expect(await reader.read()).toEqual({ step: 1, files: { weights: "step 1" } });
    expect((await reader.state()).commits.some((commit) => commit.damaged)).toBe(false);
  });

  it("says when nothing is good, when there is nothing, and when a step is not there", async () => {
    const store = await twoSteps();
    for (const step of [1, 2]) destroyChunk(store, `step ${step}`);
    await expect(new Machine(store).read()).rejects.toMatchObject({ code: "OUTLAST_NO_GOOD_CHECKPOINT" });
    await expect(new Machine(new MemoryStore()).read()).rejects.toMatchObject({ code: "OUTLAST_CHECKPOINT_UNKNOWN" });
    const reader = new Machine(store);
    const wanted = (step: number) => readNewest(reader.run, reader.log, { step }, async (commit) => commit.step);
    expect(await wanted(1)).toBe(1);
    await expect(wanted(7)).rejects.toMatchObject({ code: "OUTLAST_CHECKPOINT_UNKNOWN", hint: "it has steps 1, 2" });
  });

  it("gives up on any other fault at once", async () => {
    const reader = new Machine(await twoSteps());
    const fault = new Error("a bug");
    await expect(readNewest(reader.run, reader.log, {}, () => Promise.reject(fault))).rejects.toBe(fault);
  });

  it("chooses again when what it reads is dropped meanwhile", async () => {
    const store = await twoSteps();
    const reader = new Machine(store);
    const fetching = reader.store.hold("get", /^chunks\//);
    const read = reader.read();
    await fetching.reached;
    const next = new Machine(store);
    await next.start();
    await next.commit(2, { weights: "step 2 again" });
    await next.prune(2);
    fetching.release();
    expect(await read).toEqual({ step: 2, files: { weights: "step 2 again" } });
  });
});
