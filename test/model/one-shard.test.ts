import { describe, expect, it } from "vitest";
import { collector, prepare, pruner, reader, start } from "./actors.ts";
import { checkWorld } from "./checkpoint-world.ts";
import { explore, type Scenario } from "./explore.ts";

const soak = Boolean(process.env["OUTLAST_SOAK"]);
const limits = { states: soak ? 5_000_000 : 60_000, ms: soak ? 600_000 : 8_000 };

const cases: { name: string; make: () => Promise<Scenario> }[] = [
  {
    name: "two starts, each shipping twice and pruning",
    make: async () => ({
      objects: await prepare(start("s0", { ship: [1, 2] })),
      actors: [start("s1", { ship: [1], keep: 2 }), start("s2", { ship: [1], keep: 2 })],
      invariant: (world) => checkWorld(world),
    }),
  },
  {
    name: "a writer, a pruner, a collector and a reader",
    make: async () => ({
      objects: await prepare(start("s0", { ship: [1, 2, 3] })),
      actors: [start("s1", { ship: [1] }), pruner("pruner", 2), collector("collector"), reader("reader")],
      invariant: (world) => checkWorld(world),
    }),
  },
];

describe("the log protocol, one shard, every interleaving", () => {
  for (const { name, make } of cases) {
    it(name, { timeout: limits.ms + 20_000 }, async () => {
      const scenario = await make();
      const explored = await explore(() => scenario, limits);
      process.stderr.write(`model: ${name}: ${JSON.stringify(explored)}\n`);
      expect(explored.states).toBeGreaterThan(100);
    });
  }
});
