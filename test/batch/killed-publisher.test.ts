import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openQueueParts, publish, type QueueParts } from "../../src/queue/index.ts";
import { closePlaces, isHere, openJob, openPlaces, type Places } from "./layouts.ts";

let places: Places;
beforeAll(async () => {
  places = await openPlaces();
}, 120_000);
afterAll(() => closePlaces(places));

const ids = ["a", "b", "c", "d", "e"];
const rows = ids.map((id) => ({ id }));

/** Both sides of a queue, dead from call number `at` on: that call takes effect and nobody hears of it, or it does not. */
function dyingAt(parts: QueueParts, at: number, when: "before" | "after"): QueueParts {
  let calls = 0;
  const dying = <T extends object>(side: T): T =>
    new Proxy(side, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]): Promise<unknown> => {
          calls += 1;
          if (calls > at || (calls === at && when === "before")) throw new Error("killed");
          const result: unknown = await (value as (...args: unknown[]) => unknown).apply(target, args);
          if (calls >= at) throw new Error("killed");
          return result;
        };
      },
    });
  return { ledger: dying(parts.ledger), broker: parts.broker && dying(parts.broker) };
}

describe.each(["Postgres", "Pub/Sub"] as const)("%s: a publisher killed at every step", (name) => {
  test.skipIf(!isHere(name))("and run again: nothing missing, nothing twice", { timeout: 120_000 }, async () => {
    let steps = 0;
    for (let isOver = false; !isOver; ) {
      steps += 1;
      for (const when of ["before", "after"] as const) {
        const { layout } = await openJob(name, places);
        Object.assign(process.env, layout.env);
        const parts = await openQueueParts(layout.queue, layout.results);
        await parts.ledger.prepare();
        await parts.broker?.prepare();
        const options = { from: rows, id: "id", batch: 2, name: "rows" };
        const first = await publish({ ...dyingAt(parts, steps, when), ...options }).then(
          () => "finished",
          (error: Error) => error.message,
        );
        isOver = first === "finished";
        expect(first).toBe(isOver ? "finished" : "killed");
        const where = `killed ${when} call ${steps}`;
        expect((await publish({ ...parts, ...options })).isComplete, where).toBe(true);

        const depth = await parts.ledger.depth();
        expect(depth, where).toMatchObject({ total: ids.length, openPublications: 0 });
        expect(await startEach(parts), where).toEqual(ids);
        await Promise.all([parts.ledger.close(), parts.broker?.close()]);
      }
    }
    expect(steps).toBeGreaterThan(4);
  });
});

/** Starts whatever there is, as a worker would; a message that is there twice starts once. */
async function startEach({ ledger, broker }: QueueParts): Promise<string[]> {
  const options = {
    holder: "reader",
    leaseMs: 60_000,
    isIdle: false,
    limits: { attempts: 5, suspectAfter: 2, lonelyInterruptions: 20 },
  };
  const started: string[] = [];
  for (let isEmpty = false; !isEmpty; ) {
    const found = broker
      ? await broker.pull(100, { waitMs: 100, leaseMs: 60_000 })
      : await ledger.lease(100, 60_000, "reader");
    isEmpty = found.length === 0;
    const outcomes = await ledger.start(found, options);
    outcomes.forEach((outcome, i) => {
      if (outcome.kind === "started") started.push(found[i]?.id ?? "");
    });
  }
  return started.toSorted();
}
