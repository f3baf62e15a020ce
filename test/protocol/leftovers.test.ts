import { expect, it } from "vitest";
import type { CompleteCheckpoint } from "../../src/checkpoint/detect/types.ts";
import { type LocalInputs, planLocal } from "../../src/checkpoint/local/plan-local.ts";
import type { CommitState } from "../../src/checkpoint/log/state.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "./machine.ts";

/** A checkpoint that lies in the directory, complete by its own marker. */
function leftover(step: number | undefined): CompleteCheckpoint {
  return {
    path: step === undefined ? "" : `checkpoint-${step}`,
    step,
    state: "marked",
    fingerprint: `of ${step}`,
  } as CompleteCheckpoint;
}

/** Two starts after each other: the first one's directory is still there, the second went on elsewhere. */
async function twoStarts(): Promise<{ first: CommitState; second: CommitState; firstEpoch: number }> {
  const store = new MemoryStore();
  const s0 = new Machine(store);
  const { tenure } = await s0.start();
  await s0.commit(1, { weights: "one" });
  const s1 = new Machine(store);
  await s1.start();
  await s1.commit(2, { weights: "two" });
  const [first, second] = (await s1.state()).commits;
  if (!first || !second) throw new Error("two commits are needed");
  return { first, second, firstEpoch: tenure.epoch };
}

function inputs(target: CommitState, note: { epoch: number; base: number }, more: Partial<LocalInputs>): LocalInputs {
  return {
    found: [],
    target,
    hasCommits: true,
    of: 1,
    run: "r",
    store: "held:",
    boot: "boot",
    note: { run: "r", store: "held:", boot: "boot", complete: [], ...note },
    isTarget: () => false,
    ...more,
  };
}

it("10: what an older start left in a directory without step numbers does not become the newest", async () => {
  const { second, firstEpoch } = await twoStarts();
  const found = [leftover(undefined)];
  const plan = planLocal(inputs(second, { epoch: firstEpoch, base: 0 }, { found }));
  expect(plan).toEqual({ keep: [], aside: found });
});

it("10: what was saved on top of the newest commit is kept", async () => {
  const { first, second, firstEpoch } = await twoStarts();
  const found = [leftover(undefined)];
  expect(planLocal(inputs(second, { epoch: 99, base: second.at }, { found })).keep).toEqual(found);
  expect(planLocal(inputs(first, { epoch: firstEpoch, base: 0 }, { found })).keep).toEqual(found);
});

it("17: a shard never ships what an earlier gang left in its directory", async () => {
  const { second } = await twoStarts();
  const found = [leftover(3)];
  const plan = planLocal(inputs(second, { epoch: 99, base: second.at }, { found, of: 2 }));
  expect(plan).toEqual({ keep: [], aside: found });
});

it("17: nor what it finds when the run has no commit yet", async () => {
  const { second } = await twoStarts();
  const found = [leftover(3)];
  const none = { found, of: 2, hasCommits: false, target: undefined };
  expect(planLocal(inputs(second, { epoch: 99, base: 0 }, none))).toEqual({ keep: [], aside: found });
});
