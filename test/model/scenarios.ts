import { collector, pinner, prepare, pruner, reader, type StartOptions, start } from "./actors.ts";
import { checkEnd, type EndRules } from "./check-end.ts";
import { checkWorld, type Damage, noDamage } from "./checkpoint-world.ts";
import { commitsIn, destroy } from "./damage.ts";
import type { Actor, Scenario } from "./execution.ts";

export interface Case {
  readonly name: string;
  /** Whether every interleaving is tried in the test suite; others are cut off there, and go on in a soak. */
  readonly isSmall: boolean;
  /** How many created records may go unanswered in one schedule. @default 0 */
  readonly lostReplies?: number;
  readonly make: () => Promise<Scenario>;
}

interface Parts {
  readonly objects: ReadonlyMap<string, Uint8Array>;
  readonly actors: readonly Actor[];
  readonly damage?: Damage;
  readonly rules?: EndRules;
  readonly quiet?: readonly string[];
}

function scenario({ objects, actors, damage = noDamage, rules = {}, quiet = [] }: Parts): Scenario {
  return {
    objects,
    actors,
    quiet,
    invariant: (world, isAddition) => {
      // Nobody is led to an object before a record names it.
      if (!isAddition) checkWorld(world, damage);
    },
    end: (world, outcomes, waiting) => checkEnd(world, outcomes, waiting, rules),
  };
}

/** No actor lists or deletes anything: only what is in the log counts. */
const nobodyDeletes = ["chunks/", "steps/"];
/** A gang lists manifests, but nobody lists or deletes chunks. */
const chunksStay = ["chunks/"];

const one = (name: string, ship: readonly number[], more: Partial<StartOptions> = {}) => start(name, { ship, ...more });
const shard = (name: string, index: number, ship: readonly number[], more: Partial<StartOptions> = {}) =>
  start(name, { shard: index, of: 2, ship, ...more });

/** Destroys a part of the newest commit. */
function destroyNewest(objects: Map<string, Uint8Array>, part: "frozen" | "moving", index = 0): Damage {
  return destroy(objects, commitsIn(objects).at(-1) ?? 0, part, index);
}

/** One shard: starts that overtake each other (each is frozen at every point in some order), retention beside them, damage. */
export const oneShardCases: readonly Case[] = [
  {
    name: "two first starts of a new run",
    isSmall: true,
    lostReplies: 1,
    make: async () => scenario({ objects: new Map(), actors: [one("s1", [1]), one("s2", [1])] }),
  },
  {
    name: "a frozen and a live writer, two shipments each",
    isSmall: true,
    lostReplies: 1,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1])),
        actors: [one("s1", [1, 2]), one("s2", [1, 2])],
        quiet: nobodyDeletes,
      }),
  },
  {
    name: "three starts",
    isSmall: false,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1])),
        actors: [one("s1", [1]), one("s2", [1]), one("s3", [1])],
        quiet: nobodyDeletes,
      }),
  },
  {
    name: "a writer and a pruner",
    isSmall: true,
    lostReplies: 1,
    make: async () =>
      scenario({ objects: await prepare(one("s0", [1, 2, 3])), actors: [one("s1", [1]), pruner("pruner", 2)] }),
  },
  {
    name: "a writer whose checkpoints share data with what a pruner drops",
    isSmall: true,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1, 2], { frozenIn: [1] })),
        // Saves step 2 again without the shared part, which retires the commit that has it, then step 3 with it.
        actors: [one("s1", [0, 1], { frozenIn: [1] }), pruner("pruner", 2)],
      }),
  },
  {
    name: "a reader while what it reads is dropped",
    isSmall: true,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1, 2])),
        actors: [one("s1", [0], { keep: 2 }), reader("reader")],
      }),
  },
  {
    name: "two pruners",
    isSmall: true,
    lostReplies: 1,
    make: async () =>
      scenario({ objects: await prepare(one("s0", [1, 2, 3, 4])), actors: [pruner("p1", 2), pruner("p2", 2)] }),
  },
  {
    name: "somebody pins what a pruner is about to drop",
    isSmall: true,
    lostReplies: 1,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1, 2, 3])),
        actors: [pinner("pinner"), pruner("pruner", 2), reader("reader")],
      }),
  },
  {
    name: "two starts and a collector",
    isSmall: false,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1])),
        actors: [one("s1", [1]), one("s2", [1]), collector("collector")],
      }),
  },
  {
    name: "a writer and a collector",
    isSmall: true,
    lostReplies: 1,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1, 2, 3]), pruner("p", 2), one("s1", [1])),
        actors: [one("s2", [1, 2]), collector("collector")],
      }),
  },
  {
    name: "a pruner, a collector and a reader",
    isSmall: true,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1, 2, 3]), one("s1", [1])),
        actors: [pruner("pruner", 2), collector("collector"), reader("reader")],
      }),
  },
  {
    name: "a writer, a pruner, a collector and a reader",
    isSmall: false,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1, 2, 3])),
        actors: [one("s1", [1]), pruner("pruner", 2), collector("collector"), reader("reader")],
      }),
  },
  {
    name: "two starts that prune",
    isSmall: false,
    lostReplies: 1,
    make: async () =>
      scenario({
        objects: await prepare(one("s0", [1, 2])),
        actors: [one("s1", [1], { keep: 2 }), one("s2", [1], { keep: 2 })],
      }),
  },
  {
    name: "two starts that find the newest commit damaged",
    isSmall: true,
    lostReplies: 1,
    make: async () => {
      const objects = await prepare(one("s0", [1, 2]));
      const damage = destroyNewest(objects, "moving");
      return scenario({ objects, damage, actors: [one("s1", [1]), one("s2", [1])], quiet: nobodyDeletes });
    },
  },
  {
    name: "a start that finds damage, a pruner and a reader",
    isSmall: false,
    make: async () => {
      const objects = await prepare(one("s0", [1, 2, 3]));
      const damage = destroyNewest(objects, "moving");
      return scenario({
        objects,
        damage,
        actors: [one("s1", [1], { keep: 2 }), pruner("pruner", 2), reader("reader")],
      });
    },
  },
  {
    name: "data shared by two commits is destroyed; a start and a pruner",
    isSmall: false,
    make: async () => {
      // The second start was given nothing to reuse: its frozen part is an object of its own, shared by its two commits.
      const objects = await prepare(one("s0", [1]), one("s1", [1, 2], { mayReuse: false }), one("s2", [1]));
      const damage = destroyNewest(objects, "frozen");
      return scenario({ objects, damage, actors: [one("s3", [1, 2], { keep: 2 }), pruner("pruner", 2)] });
    },
  },
];

/** A gang of two: members that start again while it forms or runs, damage, retention beside it, the end. */
export const gangCases: readonly Case[] = [
  {
    name: "two shards of a new run",
    isSmall: true,
    make: async () =>
      scenario({ objects: new Map(), actors: [shard("a", 0, [1]), shard("b", 1, [1])], quiet: chunksStay }),
  },
  {
    name: "two shards form a gang although a reply is lost",
    isSmall: true,
    lostReplies: 1,
    make: async () =>
      scenario({ objects: new Map(), actors: [shard("a", 0, []), shard("b", 1, [])], quiet: chunksStay }),
  },
  {
    name: "two shards resume and ship twice",
    isSmall: false,
    lostReplies: 1,
    make: async () =>
      scenario({
        objects: await prepare([shard("a0", 0, [1]), shard("b0", 1, [1])]),
        actors: [shard("a", 0, [1, 2]), shard("b", 1, [1, 2])],
        quiet: chunksStay,
      }),
  },
  {
    name: "one shard starts a second time while the gang forms and runs",
    isSmall: false,
    make: async () =>
      scenario({
        objects: await prepare([shard("a0", 0, [1]), shard("b0", 1, [1])]),
        actors: [shard("a", 0, [1]), shard("a2", 0, [1]), shard("b", 1, [1], { restarts: 1 })],
        rules: { mayWait: true },
        quiet: chunksStay,
      }),
  },
  {
    name: "the number of shards changes while a gang forms and runs",
    isSmall: false,
    make: async () =>
      scenario({
        objects: await prepare([shard("a0", 0, [1]), shard("b0", 1, [1])]),
        actors: [shard("a", 0, [1]), shard("b", 1, [1]), one("alone", [1])],
        rules: { mayWait: true },
        quiet: chunksStay,
      }),
  },
  {
    name: "one shard starts a second time, the other again after it; all finish",
    isSmall: false,
    make: async () =>
      scenario({
        objects: new Map(),
        actors: [
          shard("a", 0, [], { done: true }),
          shard("a2", 0, [], { done: true }),
          shard("b", 1, [], { done: true, restarts: 1 }),
        ],
        quiet: chunksStay,
      }),
  },
  {
    name: "one shard finds the newest commit damaged",
    isSmall: false,
    lostReplies: 1,
    make: async () => {
      const objects = await prepare([shard("a0", 0, [1, 2]), shard("b0", 1, [1, 2])]);
      const damage = destroyNewest(objects, "moving", 1);
      return scenario({ objects, damage, actors: [shard("a", 0, [1]), shard("b", 1, [1])], quiet: chunksStay });
    },
  },
  {
    name: "both shards find damage, each its own, and one starts again",
    isSmall: false,
    make: async () => {
      const objects = await prepare([shard("a0", 0, [1, 2, 3]), shard("b0", 1, [1, 2, 3])]);
      const newest = destroyNewest(objects, "moving", 1);
      const older = destroy(objects, commitsIn(objects).at(-2) ?? 0, "moving", 0);
      const damage = { commits: newest.commits.union(older.commits), chunks: newest.chunks.union(older.chunks) };
      return scenario({
        objects,
        damage,
        actors: [shard("a", 0, []), shard("a2", 0, []), shard("b", 1, [])],
        rules: { mayWait: true },
        quiet: chunksStay,
      });
    },
  },
  {
    name: "a gang that drops the commit whose data one of its shards uses again",
    isSmall: false,
    make: async () =>
      scenario({
        objects: await prepare([shard("a0", 0, [1, 2], { frozenIn: [] }), shard("b0", 1, [1, 2], { frozenIn: [1] })]),
        // Both save step 2 again, which retires the commit whose data shard 1 then uses for step 3.
        actors: [shard("a", 0, [0, 1], { frozenIn: [], keep: 2 }), shard("b", 1, [0, 1], { frozenIn: [1] })],
      }),
  },
];
