import { describe, expect, it } from "vitest";
import { finishShard } from "../../src/checkpoint/finish-shard.ts";
import { pinCheckpoint } from "../../src/checkpoint/index.ts";
import { MemoryStore, withFaults } from "../../src/testing/index.ts";
import { stillClock } from "../model/checkpoint-world.ts";
import { Machine } from "../protocol/machine.ts";
import { copy, leftovers, readAll } from "./copied-run.ts";

const filesOf = (step: number, shard = 0) => ({ frozen: `frozen ${shard}`, weights: `weights ${step} of ${shard}` });

async function commitTogether(machines: readonly Machine[], step: number): Promise<void> {
  for (const machine of machines) await machine.ship(step, filesOf(step, machine.shard));
}

async function startTogether(store: MemoryStore, of: number): Promise<Machine[]> {
  const machines = Array.from({ length: of }, (_, shard) => new Machine(store, { shard, of }));
  await Machine.awaitAll(
    machines,
    machines.map((machine) => machine.start()),
  );
  return machines;
}

/** A finished run of one shard with a pin, one of two shards, and one that changed from one shard to two. */
const sources: Readonly<Record<string, (store: MemoryStore) => Promise<void>>> = {
  "one shard, finished": async (store) => {
    const [machine] = await startTogether(store, 1);
    if (!machine) return;
    for (const step of [1, 2, 3]) await commitTogether([machine], step);
    await pinCheckpoint(machine.run, 2, true);
    await finishShard(machine.run, machine.log, machine.tenure, { clock: stillClock });
  },
  "two shards": async (store) => {
    const machines = await startTogether(store, 2);
    for (const step of [1, 2]) await commitTogether(machines, step);
  },
  "one shard, then two": async (store) => {
    await commitTogether(await startTogether(store, 1), 1);
    await commitTogether(await resumeAs(store, 2), 2);
  },
};

/** Where the number of shards changes, a real program would reshard; here each new shard just begins anew. */
async function resumeAs(store: MemoryStore, of: number): Promise<Machine[]> {
  const machines = Array.from({ length: of }, (_, shard) => new Machine(store, { shard, of }));
  const { settleTarget } = await import("../../src/checkpoint/settle-target.ts");
  const settled = machines.map(async (machine) => {
    const epoch = await machine.takeOver();
    const { log, run, shard, clock } = machine;
    const restore = () => Promise.resolve({ ok: true as const });
    return settleTarget(run, log, { shard, of, epoch, clock, restore });
  });
  const results = await Machine.awaitAll(machines, settled);
  for (const [index, { tenure }] of results.entries()) {
    const machine = machines[index];
    if (machine) Object.defineProperty(machine, "tenure", { value: tenure });
  }
  return machines;
}

describe.each(Object.keys(sources))("a copy of %s", (name) => {
  it.each(["before", "after"] as const)(
    "killed %s any call to the target is never torn, and made again ends the same",
    async (when) => {
      const from = new MemoryStore("memory:from");
      await sources[name]?.(from);
      const wanted = await readAll(from);
      const before = new Map(from.objects);
      const undisturbed = withFaults(new MemoryStore("memory:to"));
      await copy(from, undisturbed);
      const calls = undisturbed.calls.length;
      expect(calls).toBeGreaterThan(15);
      for (let at = 1; at <= calls; at += 1) {
        const to = new MemoryStore("memory:to");
        const dying = withFaults(to, { decide: ({ number }) => (number === at ? { when, what: "die" } : undefined) });
        await copy(from, dying).catch((error: unknown) =>
          expect(error).toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE" }),
        );
        const cut = await readAll(to);
        const sofar = cut?.checkpoints ?? [];
        expect(sofar, `call ${at}`).toEqual(wanted?.checkpoints.slice(0, sofar.length));

        await copy(from, to);
        const now = await readAll(to);
        expect(now?.checkpoints, `call ${at}`).toEqual(wanted?.checkpoints);
        expect(now?.state.done).toEqual(wanted?.state.done);
        expect(now?.state.commits.map(({ pinned }) => pinned)).toEqual(
          wanted?.state.commits.map(({ pinned }) => pinned),
        );
        expect(await leftovers(to), `call ${at}`).toEqual([]);
      }
      expect(new Map(from.objects)).toEqual(before);
    },
  );

  it("killed at any call to the source is never torn, and made again ends the same", async () => {
    const from = new MemoryStore("memory:from");
    await sources[name]?.(from);
    const wanted = await readAll(from);
    const counting = withFaults(from);
    await copy(counting, new MemoryStore("memory:to"));
    expect(counting.calls.every(({ operation }) => operation === "get" || operation === "list")).toBe(true);
    for (let at = 1; at <= counting.calls.length; at += 1) {
      const to = new MemoryStore("memory:to");
      const dying = withFaults(from, {
        decide: ({ number }) => (number === at ? { when: "before", what: "die" } : undefined),
      });
      await expect(copy(dying, to)).rejects.toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE" });
      await readAll(to);
      await copy(from, to);
      expect((await readAll(to))?.checkpoints).toEqual(wanted?.checkpoints);
    }
  });
});

describe("while a copy is under way", () => {
  async function source(): Promise<MemoryStore> {
    const from = new MemoryStore("memory:from");
    const [machine] = await startTogether(from, 1);
    if (machine) for (const step of [1, 2, 3]) await commitTogether([machine], step);
    return from;
  }

  it("a start of the program ends it at its next commit, and keeps what it has", async () => {
    const from = await source();
    const to = new MemoryStore("memory:to");
    let other: Machine | undefined;
    const hooked = withFaults(to, { decide: () => undefined });
    const putIfAbsent = hooked.putIfAbsent.bind(hooked);
    let commits = 0;
    const interrupted = {
      ...hooked,
      putIfAbsent: async (key: string, body: Uint8Array) => {
        if (Buffer.from(body).includes('"kind":"commit"') && (commits += 1) === 2) {
          other = new Machine(to);
          await other.start();
        }
        return putIfAbsent(key, body);
      },
    };
    await expect(copy(from, interrupted)).rejects.toMatchObject({ code: "OUTLAST_SUPERSEDED", exitCode: 77 });
    expect(other?.files).toEqual(filesOf(1));
    expect((await readAll(to))?.checkpoints.map(({ step }) => step)).toEqual([1]);
    await other?.commit(5, filesOf(5));
    expect((await readAll(to))?.checkpoints.map(({ step }) => step)).toEqual([1, 5]);
  });

  it("a program that starts just before the copy's first record is not ended by it", async () => {
    const from = await source();
    const to = new MemoryStore("memory:to");
    const other = new Machine(to);
    const interrupted = Object.assign(withFaults(to), {
      putIfAbsent: async (key: string, body: Uint8Array) => {
        if (to.objects.size === 0) await other.start();
        return to.putIfAbsent(key, body);
      },
    });
    await expect(copy(from, interrupted)).rejects.toMatchObject({ code: "OUTLAST_RUN_TAKEN" });
    expect(await other.commit(1, filesOf(1))).toBe(2);
  });

  it("a second copy may take over; the target ends whole", async () => {
    const from = await source();
    const to = new MemoryStore("memory:to");
    const outcomes = await Promise.allSettled([copy(from, to), copy(from, to), copy(from, to)]);
    expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "OUTLAST_SUPERSEDED" });
    }
    await copy(from, to);
    expect((await readAll(to))?.checkpoints).toEqual((await readAll(from))?.checkpoints);
  });
});
