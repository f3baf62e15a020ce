import { describe, expect, it } from "vitest";
import { MemoryStore, withFaults } from "../../src/testing/index.ts";
import { collector, prepare, pruner, type StartResult, start } from "../model/actors.ts";
import { checkWorld, stillClock } from "../model/checkpoint-world.ts";
import type { Actor } from "../model/execution.ts";

/** Runs one actor over a store that dies at the k-th call; answers with the number of calls it made. */
async function runAndDie(actor: Actor, memory: MemoryStore, at: number, when: "before" | "after"): Promise<number> {
  const store = withFaults(memory, {
    decide: ({ number }) => (number === at ? { when, what: "die" } : undefined),
  });
  let ids = 0;
  await actor
    .run(store, () => `${actor.name}-${at}-${(ids += 1)}`, stillClock)
    .catch((error: unknown) => expect(error).toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE" }));
  return store.calls.length;
}

const actors: readonly Actor[] = [
  start("writer", { ship: [1, 2], keep: 2 }),
  start("writer that saves the same step again", { ship: [0, 1], keep: 2, frozenIn: [1] }),
  pruner("pruner", 2),
  collector("collector"),
];

describe.each(actors)("killing the $name", (actor) => {
  it.each(["before", "after"] as const)(
    "%s any of its store calls leaves a store that is whole and can be used",
    async (when) => {
      const objects = await prepare(start("s0", { ship: [1, 2, 3] }), start("s1", { ship: [1] }));
      const calls = await runAndDie(actor, new MemoryStore("memory:", objects), 0, when);
      expect(calls).toBeGreaterThan(3);
      for (let at = 1; at <= calls; at += 1) {
        const store = new MemoryStore("memory:", objects);
        await runAndDie(actor, store, at, when);
        checkWorld({ objects: store.objects });
        // Whoever comes next goes on from there, cleans up, and nothing is lost.
        let ids = 0;
        const next = async (other: Actor) => {
          const result = await other.run(store, () => `next-${at}-${(ids += 1)}`, stillClock);
          checkWorld({ objects: store.objects });
          return result;
        };
        const result = (await next(start("next", { ship: [1], keep: 2 }))) as StartResult;
        expect(result).toMatchObject({ kind: "start", shipped: [{ outcome: "committed" }] });
        await next(collector("next collector"));
        await next(pruner("next pruner", 2));
      }
    },
  );
});
