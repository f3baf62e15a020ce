import { expect, it } from "vitest";
import { finishShard } from "../../src/checkpoint/finish-shard.ts";
import { takeOver } from "../../src/checkpoint/take-over.ts";
import { endOfTenure } from "../../src/checkpoint/tenure.ts";
import { MemoryStore } from "../../src/testing/index.ts";
import { Machine } from "./machine.ts";
import { chunksOf, destroyChunk } from "./objects.ts";

const a = { shard: 0, of: 2 };
const b = { shard: 1, of: 2 };

/** A gang of two that has settled. */
async function gang(store: MemoryStore): Promise<[Machine, Machine]> {
  const machines: [Machine, Machine] = [new Machine(store, a), new Machine(store, b)];
  await Machine.awaitAll(
    machines,
    machines.map((machine) => machine.start()),
  );
  return machines;
}

/** Ships a step from both; the second one in commits. */
async function commitBoth([first, second]: readonly [Machine, Machine], step: number): Promise<number> {
  expect((await first.ship(step, { weights: `a${step}`, frozen: "a" })).kind).toBe("waiting");
  return second.commit(step, { weights: `b${step}`, frozen: "b" });
}

it("14: a start ends the gang and every epoch in it, so that nobody forms a gang with the dead", async () => {
  const store = new MemoryStore();
  const dead = new Machine(store, a);
  const deadEpoch = await dead.takeOver();
  void dead.settle(deadEpoch); // Says ready, then is killed: it never looks at the log again.
  while ((await new Machine(store, a).state()).epochs[0]?.ready !== 0) await dead.clock.advance(0);
  const old = new Machine(store, b);
  const { tenure } = await old.start();
  expect((await old.state()).gang).toBe(tenure.gang);
  const next = new Machine(store, a);
  const settled = next.settle(await next.takeOver());
  await next.clock.advance(5000);
  // The old shard's readiness died with its gang: no gang yet, and it learns that it has to go.
  expect((await next.state()).gang).toBeNull();
  expect(endOfTenure(await old.state(), "r", old.tenure)?.code).toBe("OUTLAST_GANG_ENDED");
  const again = new Machine(store, b);
  const [one, two] = await Machine.awaitAll([next, again], [settled, again.start()]);
  expect(one?.tenure.gang).toBe(two?.tenure.gang);
  expect(await commitBoth([next, again], 1)).toBeGreaterThan(one?.tenure.gang ?? 0);
});

it("15: when one shard finds damage, all go back to the same older commit", async () => {
  const store = new MemoryStore();
  const first = await gang(store);
  const c0 = await commitBoth(first, 1);
  await commitBoth(first, 2);
  destroyChunk(store, "b2");
  const [nextA, nextB] = [new Machine(store, a), new Machine(store, b)];
  // A is ready on the newest before B even looks at it.
  const settledA = nextA.start();
  await nextA.clock.advance(3000);
  const settled = await Machine.awaitAll([nextA, nextB], [settledA, nextB.start()]);
  expect(settled.map(({ target }) => target?.at)).toEqual([c0, c0]);
  expect([nextA.files, nextB.files]).toEqual([
    { weights: "a1", frozen: "a" },
    { weights: "b1", frozen: "b" },
  ]);
});

it("16: nobody leaves as finished before all have finished", async () => {
  const store = new MemoryStore();
  const [killed, waiting] = await gang(store);
  await commitBoth([killed, waiting], 1);
  const end = finishShard(waiting.run, waiting.log, waiting.tenure, { clock: waiting.clock });
  await waiting.clock.advance(5000);
  // A is killed just before its own end and comes back: B, still there, has to go back with it.
  const nextA = new Machine(store, a);
  const settledA = nextA.start();
  const [ended] = await Machine.awaitAll([waiting, nextA], [end]);
  expect(ended).toBe("gang-ended");
  const nextB = new Machine(store, b);
  await Machine.awaitAll([nextA, nextB], [settledA, nextB.start()]);
  const ends = [nextA, nextB].map((machine) =>
    finishShard(machine.run, machine.log, machine.tenure, { clock: machine.clock }),
  );
  expect(await Machine.awaitAll([nextA, nextB], ends)).toEqual(["all-done", "all-done"]);
  // A start that comes after the end finds nothing to do.
  const late = new Machine(store, a);
  expect(await takeOver(late.run, late.log, { ...a, hash: "sha256" })).toBeUndefined();
  expect(await takeOver(late.run, late.log, { ...a, hash: "sha256", again: true })).toBeDefined();
});

it("18: manifests of two pasts never meet in one commit", async () => {
  const store = new MemoryStore();
  const first = await gang(store);
  const c0 = await commitBoth(first, 400);
  expect((await first[0].ship(500, { weights: "a500 of the first past" })).kind).toBe("waiting");
  // All die; the next ones go on from 400, and shard 1 is the first to store 500.
  const next = await gang(store);
  expect((await next[1].ship(500, { weights: "b500 of the second past" })).kind).toBe("waiting");
  expect((await next[1].state()).commits.map((commit) => commit.at)).toEqual([c0]);
  await next[0].commit(500, { weights: "a500 of the second past" });
  expect((await new Machine(store, a).read()).files).toEqual({ weights: "a500 of the second past" });
});

it("19: whoever commits checks what all shards reuse, not only its own", async () => {
  const store = new MemoryStore();
  await commitBoth(await gang(store), 3);
  const [nextA, nextB] = await gang(store);
  // B's manifest reuses a chunk of the commit they resumed from …
  expect((await nextB.ship(4, { weights: "b3" })).kind).toBe("waiting");
  const held = nextA.store.hold("put", /^steps\/4\//);
  const last = nextA.ship(4, { weights: "a4" });
  await held.reached;
  // … which lower steps retire; it is dropped and deleted …
  for (const step of [1, 2]) {
    await nextB.ship(step, { weights: `another b${step}` });
    await nextA.commit(step, { weights: `another a${step}` });
  }
  await new Machine(store, a).prune(2);
  expect(chunksOf(store, "b3")).toEqual([]);
  // … before A, the last one in and with nothing reused itself, comes to commit.
  held.release();
  expect((await last).kind).toBe("reuse-lost");
  expect(await new Machine(store, b).read()).toEqual({ step: 2, files: { weights: "another b2" } });
});

it("20: shards that read different heads are still in the same gang", async () => {
  const store = new MemoryStore();
  const [early, late] = [new Machine(store, a), new Machine(store, b)];
  const lateSettled = late.start();
  while ((await new Machine(store, b).log.head())?.state.epochs[0]?.ready !== 0) await late.clock.advance(0);
  const { tenure } = await early.start();
  // Before the other looks again, the log has moved on.
  const first = await early.ship(1, { weights: "a1" });
  expect(first.kind).toBe("waiting");
  const other = new Machine(store, a);
  await other.log.append<never>(() => ({ append: { kind: "done", epoch: tenure.epoch, gang: tenure.gang } }));
  const [settled] = await Machine.awaitAll([late], [lateSettled]);
  expect(settled?.tenure.gang).toBe(tenure.gang);
  await late.commit(1, { weights: "b1" });
});
