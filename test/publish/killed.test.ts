import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openQueueParts, publish, type QueueParts } from "../../src/queue/index.ts";
import { startOutlast } from "../support/outlast-process.ts";
import { runOutlast } from "../support/run-outlast.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-killed-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const rows = ["a", "b", "c", "d", "e"].map((id) => ({ id }));

/** Both sides of a queue that die at call number `at`: before it takes effect, or after it did and before anyone hears of it. */
function dyingAt(
  parts: QueueParts,
  at: number,
  when: "before" | "after",
): { readonly parts: QueueParts; readonly calls: () => number } {
  let calls = 0;
  const dying = <T extends object>(side: T): T =>
    new Proxy(side, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]): Promise<unknown> => {
          calls += 1;
          const isLast = calls === at;
          if (calls > at || (isLast && when === "before")) throw new Error("killed");
          const result: unknown = await (value as (...args: unknown[]) => unknown).apply(target, args);
          if (isLast) throw new Error("killed");
          return result;
        };
      },
    });
  return {
    parts: { ledger: dying(parts.ledger), broker: parts.broker && dying(parts.broker) },
    calls: () => calls,
  };
}

const layouts = {
  "queue and results in one database": (folder: string) => openQueueParts(`sqlite:${join(folder, "one.db")}`),
  "a queue of its own": (folder: string) =>
    openQueueParts(`sqlite:${join(folder, "queue.db")}`, `sqlite:${join(folder, "results.db")}`),
};

describe.each(Object.entries(layouts))("a publisher killed at every step, %s", (_, open) => {
  test("and run again: nothing missing, nothing twice, the publication closed", async () => {
    let step = 0;
    for (let isOver = false; !isOver; ) {
      step += 1;
      for (const when of ["before", "after"] as const) {
        const folder = await mkdtemp(join(dir, "step-"));
        const parts = await open(folder);
        await parts.broker?.prepare();
        await parts.ledger.prepare();
        const dying = dyingAt(parts, step, when);
        const options = { from: rows, id: "id", batch: 2, name: "rows" };
        const first = await publish({ ...dying.parts, ...options }).then(
          () => "finished",
          (error: Error) => error.message,
        );
        isOver = first === "finished";
        expect(first).toBe(isOver ? "finished" : "killed");

        const again = await publish({ ...parts, ...options });
        expect(again.isComplete).toBe(true);
        const depth = await parts.ledger.depth();
        expect(depth).toMatchObject({ total: 5, openPublications: 0 });
        expect((await parts.ledger.pending(undefined, 10)).items).toHaveLength(parts.broker ? 0 : 5);
        const held = parts.broker
          ? await parts.broker.pull(100, { waitMs: 0, leaseMs: 60_000 })
          : await parts.ledger.lease(100, 60_000, "reader");
        // A separate broker may hold a message twice; the ledger tells them apart when they are started.
        expect([...new Set(held.map(({ id }) => id))].sort()).toEqual(["a", "b", "c", "d", "e"]);
        if (!parts.broker) expect(held).toHaveLength(5);
        await parts.broker?.close();
        await parts.ledger.close();
      }
    }
    expect(step).toBeGreaterThan(4);
  });
});

test("whatever a killed publisher left unsent is sent by the next one, even if that has nothing of its own", async () => {
  const parts = await layouts["a queue of its own"](dir);
  await parts.broker?.prepare();
  await parts.ledger.prepare();
  await parts.ledger.add(rows.map(({ id }) => ({ id, data: { id } })));
  expect(await publish({ ...parts, from: [], name: "nothing" })).toMatchObject({ read: 0, added: 0, sent: 5 });
  await parts.broker?.close();
  await parts.ledger.close();
});

test("the command, killed for real and run again", async () => {
  const count = 60_000;
  const lines = Array.from({ length: count }, (_, i) => `row-${i},${"x".repeat(20)}`);
  await writeFile(join(dir, "rows.csv"), `id,text\n${lines.join("\n")}\n`);
  const args = ["publish", "rows.csv", "--queue", "sqlite:jobs.db", "--id", "id"];
  const first = startOutlast([...args, "--log-format", "json"], { cwd: dir });
  const depth = async () => {
    const { code, stdout } = await runOutlast(["queue", "status", "--queue", "sqlite:jobs.db", "--json"], { cwd: dir });
    return code === 0 ? (JSON.parse(stdout) as { total: number; openPublications: number }) : undefined;
  };
  let hasEnded = false;
  void first.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && !((await depth())?.total ?? 0)) await new Promise((resolve) => setTimeout(resolve, 5));
  first.kill("SIGKILL");
  const { signal } = await first.ended;
  const left = await depth();
  // On a quick machine it may have finished first; then there was nothing to interrupt.
  if (signal === "SIGKILL") expect(left).toMatchObject({ openPublications: 1 });
  const again = await runOutlast([...args, "--json"], { cwd: dir });
  expect(again.code, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({
    read: count,
    added: count - (left?.total ?? 0),
    known: left?.total,
  });
  expect(await depth()).toMatchObject({ total: count, openPublications: 0 });
});
