import { strict as assert } from "node:assert";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collector, prepare, pruner, reader, type StartResult, start } from "./actors.ts";
import { checkEnd } from "./check-end.ts";
import { checkWorld, recordsOf } from "./checkpoint-world.ts";
import type { Actor, Scenario } from "./execution.ts";
import { wander } from "./wander.ts";

const isSoak = Boolean(process.env["OUTLAST_SOAK"]);
const msEach = isSoak ? 120_000 : 3_000;

/** Random schedules of these actors; each seed is one schedule, and a failure names its seed. */
async function wanderSeeds(name: string, scenario: Scenario, lostReplies: number): Promise<void> {
  const ends = performance.now() + msEach;
  let schedules = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
      schedules += await wander(() => scenario, { seed, ms: 1, schedules: 2, lostReplies });
    }),
    { numRuns: 1_000_000, interruptAfterTimeLimit: ends - performance.now(), endOnFailure: true },
  );
  process.stderr.write(`random: ${name}: ${schedules} schedules\n`);
  expect(schedules).toBeGreaterThan(20);
}

/** Positions of a start's records, and what came of it. */
function scenarioOf(objects: ReadonlyMap<string, Uint8Array>, actors: readonly Actor[]): Scenario {
  return {
    objects,
    actors,
    invariant: (world, isAddition) => {
      if (!isAddition) checkWorld(world);
    },
    end: (world, outcomes, waiting) => {
      checkEnd(world, outcomes, waiting);
      const records = recordsOf(world);
      assert.deepEqual(
        records.map(({ n }) => n),
        records.map((_, index) => index + 1),
      );
      assert.equal(new Set(records.map(({ id }) => id)).size, records.length, "two records have one id");
      // Whoever started last was never stopped by anybody.
      const last = records.findLast(({ body }) => body.kind === "epoch")?.n;
      const starts = [...outcomes.values()].map((outcome) => ("value" in outcome ? outcome.value : undefined));
      const winner = starts.find(
        (value) => (value as StartResult).kind === "start" && (value as StartResult).gang === last,
      );
      assert(winner, `the last start (epoch ${last}) did not get to its end`);
      const { shipped } = winner as StartResult;
      assert(
        shipped.every(({ outcome }) => outcome === "committed"),
        `the last start could not commit: ${JSON.stringify(shipped)}`,
      );
    },
  };
}

describe("random orders of many writers", () => {
  it("fences eight starts of one run: only the one in charge commits, and the last one can", {
    timeout: msEach + 30_000,
  }, async () => {
    const names = ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"];
    const actors = names.map((name) => start(name, { ship: [1] }));
    await wanderSeeds("eight starts", scenarioOf(new Map(), actors), 2);
  });

  it("never loses data to retention while others ship, overtake, collect and restore", {
    timeout: msEach + 30_000,
  }, async () => {
    const objects = await prepare(start("s0", { ship: [1, 2, 3] }));
    const actors = [
      start("s1", { ship: [0, 1], keep: 2, frozenIn: [1] }),
      start("s2", { ship: [1, 2], keep: 2 }),
      start("s3", { ship: [0, 2], keep: 2, frozenIn: [1] }),
      pruner("p1", 2),
      pruner("p2", 3),
      collector("c1"),
      collector("c2"),
      reader("r1"),
      reader("r2"),
    ];
    await wanderSeeds("retention", scenarioOf(objects, actors), 1);
  });
});
