import { finishShard } from "../../src/checkpoint/finish-shard.ts";
import { readNewest } from "../../src/checkpoint/read-newest.ts";
import { collectLeftovers } from "../../src/checkpoint/retention/collect.ts";
import { pruneCommits } from "../../src/checkpoint/retention/prune.ts";
import { settleTarget } from "../../src/checkpoint/settle-target.ts";
import { ReuseBook } from "../../src/checkpoint/ship/reuse-book.ts";
import type { ShipOutcome } from "../../src/checkpoint/ship/ship-files.ts";
import { takeOver } from "../../src/checkpoint/take-over.ts";
import { type Clock, isOutlastError } from "../../src/core/index.ts";
import { MemoryStore, type ObjectStore } from "../../src/storage/index.ts";
import { openActor, pastOf, readPart, restorer, shipStep, stillClock } from "./checkpoint-world.ts";
import type { Actor } from "./execution.ts";

export interface StartOptions {
  readonly shard?: number;
  readonly of?: number;
  /** Steps to ship after the one resumed from: `[1, 2]` ships resumed + 1, resumed + 2. */
  readonly ship: readonly number[];
  /** Which of its shipments (from 0) hold the part that never changes. @default all */
  readonly frozenIn?: readonly number[];
  /** Whether it may reuse data of the commit it resumed from. @default true */
  readonly mayReuse?: boolean;
  /** Keep this many after each commit. */
  readonly keep?: number;
  /** Say done at the end and wait for the others. */
  readonly done?: boolean;
  /** How often it starts again after its gang was ended by another shard's start, as Kubernetes would. @default 0 */
  readonly restarts?: number;
}

/** What a start has to show for itself. */
export interface StartResult {
  readonly kind: "start";
  readonly shard: number;
  readonly gang: number;
  /** Position of the commit it resumed from, and the past it found there. */
  readonly target: number;
  readonly past: string;
  readonly shipped: readonly { readonly step: number; readonly outcome: ShipOutcome["kind"] }[];
  readonly end: "left" | "all-done" | "gang-ended" | "superseded";
}

/** A start that came too late or was overtaken before it had shipped everything. */
export interface EndedStart {
  readonly kind: "finished-before" | "superseded" | "gang-ended" | "no-good-checkpoint";
}

/** What a reader found. */
export interface ReadResult {
  readonly kind: "read";
  readonly at: number;
  readonly past: string;
}

/** One whole start: takes over, restores, ships, prunes; ends quietly when it is overtaken. */
export function start(name: string, options: StartOptions): Actor {
  return {
    name,
    run: async (store, newId, clock): Promise<StartResult | EndedStart> => {
      for (let left = options.restarts ?? 0; ; left -= 1) {
        const result = await startOnce(store, newId, clock, options);
        const isEnded = result.kind === "gang-ended" || (result.kind === "start" && result.end === "gang-ended");
        if (!isEnded || left === 0) return result;
      }
    },
  };
}

async function startOnce(
  store: ObjectStore,
  newId: () => string,
  clock: Clock,
  { shard = 0, of = 1, ship, frozenIn, mayReuse = true, keep, done }: StartOptions,
): Promise<StartResult | EndedStart> {
  const { run, log } = openActor(store, newId);
  try {
    const epoch = await takeOver(run, log, { shard, of, hash: "sha256" });
    if (!epoch) return { kind: "finished-before" };
    const { restore, found } = restorer(run, shard);
    const { target, tenure } = await settleTarget(run, log, { shard, of, epoch: epoch.n, clock, restore, pollMs: 0 });
    const resumed = target ? found.past : "";
    const book = mayReuse ? found.book : new ReuseBook();
    const shipments = { next: 0 };
    const shipped: { step: number; outcome: ShipOutcome["kind"] }[] = [];
    let past = resumed;
    for (const [index, ahead] of ship.entries()) {
      const step = (target?.step ?? 0) + ahead;
      past = pastOf(past, tenure, step);
      const outcome = await shipStep(
        { run, log, tenure, book, shipments },
        step,
        past,
        frozenIn?.includes(index) ?? true,
      );
      shipped.push({ step, outcome: outcome.kind });
      if (keep !== undefined && outcome.kind === "committed") await pruneCommits(run, log, { keep });
    }
    const end = done ? await finishShard(run, log, tenure, { clock, pollMs: 0 }) : "left";
    return { kind: "start", shard, gang: tenure.gang, target: target?.at ?? 0, past: resumed, shipped, end };
  } catch (error) {
    if (isOutlastError(error, "OUTLAST_SUPERSEDED")) return { kind: "superseded" };
    if (isOutlastError(error, "OUTLAST_GANG_ENDED")) return { kind: "gang-ended" };
    if (isOutlastError(error, "OUTLAST_NO_GOOD_CHECKPOINT")) return { kind: "no-good-checkpoint" };
    throw error;
  }
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

/** Pins the oldest commit. */
export function pinner(name: string): Actor {
  return {
    name,
    run: async (store, newId): Promise<number> => {
      const { log } = openActor(store, newId);
      const outcome = await log.append<undefined>((head) => {
        const commit = head?.state.commits[0];
        return commit ? { append: { kind: "pin", commit: commit.at, pinned: true } } : { result: undefined };
      });
      return "appended" in outcome ? outcome.appended.n : 0;
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
    run: async (store, newId): Promise<ReadResult> => {
      const { run, log } = openActor(store, newId);
      return readNewest(run, log, {}, async (commit, state) => {
        const pasts = new Set<string>();
        for (const { shard } of commit.manifests) pasts.add((await readPart(run, commit, state, shard)).past);
        return { kind: "read", at: commit.at, past: [...pasts].join(" and ") };
      });
    },
  };
}

/** Content made by running actors one after the other, undisturbed; those of one list run at the same time (a gang forms only so). */
export async function prepare(...stages: readonly (Actor | readonly Actor[])[]): Promise<Map<string, Uint8Array>> {
  const store = new MemoryStore();
  for (const stage of stages) {
    await Promise.all(
      [stage].flat().map((actor) => {
        let ids = 0;
        return actor.run(store, () => `${actor.name}-${(ids += 1)}`, stillClock);
      }),
    );
  }
  return new Map(store.objects);
}
