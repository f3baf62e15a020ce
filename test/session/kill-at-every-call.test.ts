import { describe, expect, it } from "vitest";
import { createTransfer, openRun, verifyCheckpoints } from "../../src/checkpoint/index.ts";
import { faultAt, MemoryStore, withFaults } from "../../src/storage/index.ts";
import { begin, load, remove, save, sessionOn, tempDir, trainOn } from "./support.ts";

/**
 * One start that restores, ships two steps, prunes and says done; killed at a storage call, before or after it took effect. Whatever the moment,
 * the next start finds a whole checkpoint, never an older one than was committed, and goes on.
 */
async function oneStart(store: ReturnType<typeof withFaults>, dir: string, isSameMachine: boolean): Promise<void> {
  const session = sessionOn(store, dir, { keep: 2 });
  try {
    await begin(session);
    await save(dir, 40);
    await session.finish({ writer: { state: "exited" } });
    await save(dir, 50);
    await session.finish({ writer: { state: "exited" } });
    await session.complete();
  } catch (error) {
    if (!store.isDead) throw error;
  } finally {
    await session.close();
    if (!isSameMachine) await remove(dir);
  }
}

async function prepared(): Promise<Map<string, Uint8Array>> {
  const store = new MemoryStore();
  const dir = await tempDir();
  await trainOn(store, dir, [10, 20, 30], { keep: 3 });
  await remove(dir);
  return store.objects;
}

async function checkAfter(store: MemoryStore, dir: string): Promise<number> {
  const next = sessionOn(store, dir, { keep: 2, again: true });
  try {
    const { resume } = await begin(next);
    expect(resume, "something to resume from").toBeDefined();
    const step = resume?.step ?? 0;
    expect([30, 40, 50]).toContain(step);
    expect(await load(dir, step)).toBe(`weights of ${step}`);
    await save(dir, step + 5);
    await next.finish({ writer: { state: "exited" } });
    expect(next.log).toContain(`committed ${step + 5}`);
    const verified = await verifyCheckpoints(openRun(store, "r"), { transfer: createTransfer({ inline: true }) });
    expect(verified.ok).toBe(true);
    expect(verified.checked.length).toBeGreaterThanOrEqual(2);
    return step;
  } finally {
    await next.close();
    await remove(dir);
  }
}

describe("a kill at every storage call of restore, ship, commit, prune and done", () => {
  it.each([true, false])(
    "leaves a whole checkpoint and a usable store (same machine: %s)",
    { timeout: 120_000 },
    async (isSameMachine) => {
      const objects = await prepared();
      const counted = withFaults(new MemoryStore("memory:", objects));
      const counting = await tempDir();
      await oneStart(counted, counting, false);
      const calls = counted.calls.length;
      expect(calls).toBeGreaterThan(30);
      const resumed = new Map<number, number>();
      for (let number = 1; number <= calls; number += 1) {
        // On the same machine, where the directory survives too, one side of each call is enough.
        for (const when of isSameMachine ? (["after"] as const) : (["before", "after"] as const)) {
          const base = new MemoryStore("memory:", objects);
          const store = withFaults(base, faultAt(number, { when, what: "die" }));
          const dir = await tempDir();
          await oneStart(store, dir, isSameMachine);
          expect(store.isDead, `call ${number} was reached`).toBe(true);
          const step = await checkAfter(base, isSameMachine ? dir : await tempDir()).catch((error: unknown) => {
            const call = counted.calls[number - 1];
            throw new Error(`killed ${when} call ${number} (${call?.operation} ${call?.key}): ${String(error)}`, {
              cause: error,
            });
          });
          resumed.set(step, (resumed.get(step) ?? 0) + 1);
        }
      }
      // Both sides of both commits were really met; on the same machine what was saved but not committed is resumed from, too.
      expect([...resumed.keys()].toSorted((a, b) => a - b)).toEqual(isSameMachine ? [30, 50] : [30, 40, 50]);
    },
  );
});
