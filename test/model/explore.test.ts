import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ObjectStore } from "../../src/storage/index.ts";
import { collector, prepare, pruner, start } from "./actors.ts";
import { openActor } from "./checkpoint-world.ts";
import { type Actor, type Scenario, Violation } from "./execution.ts";
import { explore, type Limits } from "./explore.ts";
import { wander } from "./wander.ts";

const enough: Limits = { states: 1_000_000, ms: 60_000 };

/** Every way in which a scenario can end: its objects and what each actor has to show. */
async function endsOf(
  parts: Pick<Scenario, "actors" | "quiet"> & Partial<Scenario>,
  limits: Partial<Limits> = {},
): Promise<{ ends: Set<string>; states: number }> {
  const ends = new Set<string>();
  const scenario: Scenario = {
    objects: new Map(),
    invariant: () => {},
    end: ({ objects }, outcomes, waiting) => {
      const stored = [...objects].map(([key, body]) => `${key}=${createHash("sha1").update(body).digest("hex")}`);
      const shown = [...outcomes].map(([name, outcome]) => `${name}: ${JSON.stringify(outcome)}`);
      ends.add([...stored.toSorted(), ...shown.toSorted(), `waiting: ${waiting.toSorted().join()}`].join("\n"));
    },
    ...parts,
  };
  const explored = await explore(() => scenario, { ...enough, ...limits });
  expect(explored.complete).toBe(true);
  return { ends, states: explored.states };
}

function actor(name: string, run: (store: ObjectStore) => Promise<unknown>): Actor {
  return { name, run };
}

const has = (store: ObjectStore, key: string) =>
  store.get(key).then(
    () => true,
    () => false,
  );

describe("the explorer", () => {
  /** Each writes its own flag, then looks for the other's: at least one must see it. */
  const flags = [
    actor("a", async (store) => {
      await store.put("r/a", new Uint8Array());
      return has(store, "r/b");
    }),
    actor("b", async (store) => {
      await store.put("r/b", new Uint8Array());
      return has(store, "r/a");
    }),
  ];

  it.each([true, false])("finds the three ways two flags can be seen, and no fourth (reduced: %s)", async (reduce) => {
    const { ends } = await endsOf({ actors: flags }, { reduce });
    const seen = [...ends].map((end) => [...end.matchAll(/"value":(\w+)/g)].map((match) => match[1]).join());
    expect(seen.toSorted()).toEqual(["false,true", "true,false", "true,true"]);
  });

  const appenders = ["a", "b", "c"].map(
    (name): Actor => ({
      name,
      run: async (store, newId) => {
        const { log } = openActor(store, newId);
        const outcome = await log.append<never>(() => ({
          append: { kind: "epoch", shard: 0, of: 1, hash: "sha256" },
        }));
        return "appended" in outcome ? outcome.appended.n : 0;
      },
    }),
  );

  it.each([
    { reduce: true, lostReplies: 0 },
    { reduce: false, lostReplies: 0 },
    { reduce: true, lostReplies: 1 },
    { reduce: false, lostReplies: 1 },
  ])("finds all six orders in which three machines append to a log (%o)", async (limits) => {
    const { ends } = await endsOf({ actors: appenders }, limits);
    // The one at position p has collided with 0 to p - 1 others, and took a new id each time: 6 orders × 1 × 2 × 3.
    expect(ends.size).toBe(36);
    expect(new Set([...ends].map((end) => end.replaceAll(/=[0-9a-f]+/g, ""))).size).toBe(6);
  });

  it("lets a sleeper wake only when the log has grown, and reports who sleeps at the end", async () => {
    const sleeper: Actor = {
      name: "z",
      run: async (store, newId, clock) => {
        const { log } = openActor(store, newId);
        await log.head();
        await clock.sleep(1000);
        return (await log.head())?.n ?? 0;
      },
    };
    const { ends } = await endsOf({ actors: [...appenders.slice(0, 1), sleeper] });
    const isAwake = [...ends].map((end) => end.includes('z: {"value":1}'));
    const isAsleep = [...ends].map((end) => end.includes("waiting: z"));
    expect(isAwake).toHaveLength(2);
    expect(isAwake).toEqual(isAsleep.toReversed());
    expect(isAwake).toContain(true);
  });

  it("tells the schedule that breaks an invariant", async () => {
    const scenario: Scenario = {
      objects: new Map(),
      actors: flags,
      invariant: ({ objects }) => {
        if (objects.size === 2) throw new Error("both flags are up");
      },
      end: () => {},
    };
    const failure = await explore(() => scenario, enough).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Violation);
    expect(String(failure)).toMatch(/both flags are up[^]*a: put r\/a[^]*b: put r\/b/);
    await expect(wander(() => scenario, { seed: 1, ms: 1000 })).rejects.toBeInstanceOf(Violation);
  });

  const real: { name: string; make: () => Promise<Parameters<typeof endsOf>[0]>; lostReplies?: number }[] = [
    {
      name: "two first starts",
      make: async () => ({ actors: [start("s1", { ship: [1] }), start("s2", { ship: [] })] }),
    },
    {
      name: "two starts of a run, nobody deleting",
      lostReplies: 1,
      make: async () => ({
        objects: await prepare(start("s0", { ship: [1] })),
        actors: [start("s1", { ship: [1] }), start("s2", { ship: [] })],
        quiet: ["chunks/", "steps/"],
      }),
    },
    {
      name: "a pruner and a collector",
      make: async () => ({
        objects: await prepare(start("s0", { ship: [1, 2, 3] }), start("s1", { ship: [] })),
        actors: [pruner("p", 2), collector("c")],
      }),
    },
    {
      name: "two shards that form a gang",
      make: async () => ({
        actors: [start("a", { shard: 0, of: 2, ship: [] }), start("b", { shard: 1, of: 2, ship: [] })],
        quiet: ["chunks/"],
      }),
    },
  ];

  it.each(real)(
    "leaves out no end when it leaves out orders: $name",
    { timeout: 60_000 },
    async ({ make, lostReplies = 0 }) => {
      const parts = await make();
      const all = await endsOf({ ...parts, quiet: [] }, { reduce: false, lostReplies });
      const reduced = await endsOf(parts, { reduce: true, lostReplies });
      expect(reduced.ends).toEqual(all.ends);
      expect(reduced.states).toBeLessThan(all.states);
      process.stderr.write(`explorer: ${all.ends.size} ends, ${all.states} states, ${reduced.states} of them enough\n`);
    },
  );
});
