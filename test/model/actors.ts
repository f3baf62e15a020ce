import { collectLeftovers } from "../../src/checkpoint/retention/collect.ts";
import { pruneCommits } from "../../src/checkpoint/retention/prune.ts";
import { readNewest } from "../../src/checkpoint/read-newest.ts";
import { settleTarget } from "../../src/checkpoint/settle-target.ts";
import { takeOver } from "../../src/checkpoint/take-over.ts";
import { isOutlastError } from "../../src/core/index.ts";
import { MemoryStore } from "../../src/storage/index.ts";
import type { Actor } from "./explore.ts";
import { openActor, pastOf, readPart, restorer, runName, shipStep, stillClock } from "./checkpoint-world.ts";

export interface StartOptions {
  readonly shard?: number;
  readonly of?: number;
  /** Steps to ship after the one resumed from: `[1, 2]` ships resumed + 1, resumed + 2. */
  readonly ship: readonly number[];
  /** Keep this many after each commit. */
  readonly keep?: number;
  /** Say done at the end. */
  readonly done?: boolean;
}

/** One whole start: takes over, restores, ships, prunes; ends quietly when it is overtaken. */
export function start(name: string, options: StartOptions): Actor {
  const { shard = 0, of = 1, ship, keep } = options;
  return {
    name,
    run: async (store, newId, clock) => {
      const { run, log } = openActor(store, newId);
      try {
        const epoch = await takeOver(run, log, { shard, of, hash: "sha256" });
        if (!epoch) return "finished before";
        const { restore, found } = restorer(run, shard);
        const settled = await settleTarget(run, log, { shard, of, epoch: epoch.n, clock, restore, pollMs: 0 });
        const base = settled.target?.step ?? 0;
        const shipments = { next: 0 };
        const outcomes: string[] = [];
        let past = found.past;
        for (const ahead of ship) {
          past = pastOf(past, settled.tenure, base + ahead);
          const context = { run, log, tenure: settled.tenure, book: found.book, shipments };
          const outcome = await shipStep(context, base + ahead, past);
          outcomes.push(outcome.kind);
          if (keep !== undefined && outcome.kind === "committed") await pruneCommits(run, log, { keep });
        }
        return `resumed ${base}, ${outcomes.join(", ")}`;
      } catch (error) {
        if (isOutlastError(error, "OUTLAST_SUPERSEDED", "OUTLAST_GANG_ENDED", "OUTLAST_NO_GOOD_CHECKPOINT"))
          return error.code;
        throw error;
      }
    },
  };
}

/** Drops and deletes what is not to be kept. */
export function pruner(name: string, keep: number): Actor {
  return {
    name,
    run: async (store, newId) => {
      const { run, log } = openActor(store, newId);
      return (await pruneCommits(run, log, { keep })).plan.drop.length;
    },
  };
}

/** Deletes what ended epochs left behind. */
export function collector(name: string): Actor {
  return {
    name,
    run: async (store, newId) => {
      const { run, log } = openActor(store, newId);
      return (await collectLeftovers(run, log)).deletedObjects;
    },
  };
}

/** Reads the newest commit as `checkpoints pull` does; answers with its past. */
export function reader(name: string): Actor {
  return {
    name,
    run: async (store, newId) => {
      const { run, log } = openActor(store, newId);
      return readNewest(run, log, {}, async (commit, state) => {
        const { past } = await readPart(run, commit, state, 0);
        return { past, at: commit.at };
      });
    },
  };
}

/** Content made by running actors one after the other, undisturbed. */
export async function prepare(...actors: readonly Actor[]): Promise<Map<string, Uint8Array>> {
  const store = new MemoryStore();
  for (const actor of actors) {
    let ids = 0;
    await actor.run(store, () => `${actor.name}-${(ids += 1)}`, stillClock);
  }
  return new Map(store.objects);
}

/** Content made by actors that run at the same time, one call each in turn (a gang forms only so). */
export async function prepareTogether(...actors: readonly Actor[]): Promise<Map<string, Uint8Array>> {
  const store = new MemoryStore();
  await Promise.all(
    actors.map((actor) => {
      let ids = 0;
      return actor.run(store, () => `${actor.name}-${(ids += 1)}`, stillClock);
    }),
  );
  return new Map(store.objects);
}

export { runName };
