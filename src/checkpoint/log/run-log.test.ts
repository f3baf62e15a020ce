import { describe, expect, it } from "vitest";
import { OutlastError } from "../../core/index.ts";
import { type ObjectStore, withFaults } from "../../storage/index.ts";
import { FakeClock, MemoryStore } from "../../testing/index.ts";
import { openRun } from "../run-store.ts";
import { encodeRecord, type LogRecord, type RecordBody, recordKey } from "./record.ts";
import { applyRecord, RuleBroken } from "./rules.ts";
import { RunLog } from "./run-log.ts";
import { emptyState } from "./state.ts";

const epoch: RecordBody = { kind: "epoch", shard: 0, of: 1, hash: "sha256" };

/** Another machine's view of the same run. */
function machine(store: ObjectStore, options: { useHint?: boolean; newId?: () => string } = {}): RunLog {
  return new RunLog(openRun(store, "r"), { clock: new FakeClock(), useHint: false, ...options });
}

async function append(log: RunLog, body: RecordBody = epoch): Promise<LogRecord> {
  const outcome = await log.append<never>(() => ({ append: body }));
  if (!("appended" in outcome)) throw new Error("nothing was appended");
  return outcome.appended;
}

describe("appending to the log", () => {
  it("puts records at 1, 2, 3 … and every machine sees them", async () => {
    const store = new MemoryStore();
    const [a, b] = [machine(store), machine(store)];
    expect((await append(a)).n).toBe(1);
    expect((await append(b)).n).toBe(2);
    expect((await append(a)).n).toBe(3);
    expect((await b.head())?.n).toBe(3);
    expect([...store.objects.keys()]).toEqual([1, 2, 3].map((n) => `r/${recordKey(n)}`));
  });

  it("decides again after a collision, on what the other machine wrote", async () => {
    const store = new MemoryStore();
    const [a, b] = [machine(store), machine(store)];
    await append(a);
    const seen: (number | undefined)[] = [];
    const outcome = await a.append<string>(async (head) => {
      seen.push(head?.n);
      if (seen.length === 1) await append(b);
      return seen.length > 1 ? { result: "thought better of it" } : { append: epoch };
    });
    expect(outcome).toEqual({ result: "thought better of it" });
    expect(seen).toEqual([1, 2]);
    expect((await b.head())?.n).toBe(2);
  });

  it("never appends a decision made on an older record, even when the same machine has read on meanwhile", async () => {
    const store = new MemoryStore();
    const [a, b] = [machine(store), machine(store)];
    await append(a);
    const decidedOn: (number | undefined)[] = [];
    const outcome = await a.append<never>(async (head) => {
      decidedOn.push(head?.n);
      if (decidedOn.length === 1) {
        await append(b);
        await a.head(); // As a supervisor does that looks at the log while it commits.
      }
      return { append: epoch };
    });
    expect(decidedOn).toEqual([1, 2]);
    expect("appended" in outcome && outcome.appended.n).toBe(3);
  });

  it("does not forget a newer record when a slower look at the log ends later", async () => {
    const store = new MemoryStore();
    const slow = { release: () => {} };
    let isSlow = false;
    const held: ObjectStore = Object.assign(Object.create(store) as ObjectStore, {
      get: async (key: string) => {
        const result = store.get(key);
        result.catch(() => {});
        if (isSlow) {
          isSlow = false;
          await new Promise<void>((resolve) => {
            slow.release = resolve;
          });
        }
        return result;
      },
      putIfAbsent: store.putIfAbsent.bind(store),
      put: store.put.bind(store),
    });
    const a = machine(held);
    await append(a);
    isSlow = true;
    const look = a.head();
    await append(a);
    slow.release();
    await look;
    expect(a.seen?.n).toBe(2);
  });

  it("knows its own record when the reply to its put was lost", async () => {
    const store = new MemoryStore();
    const faulty = withFaults(store, {
      decide: (call) => (call.operation === "putIfAbsent" ? { when: "after", what: "fail" } : undefined),
    });
    const record = await append(machine(faulty));
    expect(record.n).toBe(1);
    expect((await machine(store).head())?.id).toBe(record.id);
  });

  it("reports the error of a put that was not carried out", async () => {
    const faulty = withFaults(new MemoryStore(), {
      decide: (call) => (call.operation === "putIfAbsent" ? { when: "before", what: "fail" } : undefined),
    });
    await expect(append(machine(faulty))).rejects.toMatchObject({ code: "OUTLAST_STORE_UNREACHABLE" });
  });

  it("refuses a record that breaks the rules, and leaves the position free", async () => {
    const store = new MemoryStore();
    const log = machine(store);
    await expect(append(log, { kind: "ready", epoch: 1, target: 0 })).rejects.toBeInstanceOf(RuleBroken);
    expect(store.objects.size).toBe(0);
  });
});

/** A store that holds a log of `length` epochs, made when asked for; counts requests. */
function longLog(length: number): { store: ObjectStore; requests: string[]; objects: Map<string, Uint8Array> } {
  const requests: string[] = [];
  const objects = new Map<string, Uint8Array>();
  const state = applyRecord(emptyState("sha256"), epoch, { n: 1, at: "" });
  const get = (key: string): Promise<Uint8Array> => {
    requests.push(key);
    const kept = objects.get(key);
    if (kept) return Promise.resolve(kept);
    const n = Number(/^r\/log\/(\d{20})\.json$/.exec(key)?.[1]);
    if (!(n >= 1 && n <= length)) return Promise.reject(new OutlastError("OUTLAST_OBJECT_NOT_FOUND", key));
    return Promise.resolve(encodeRecord({ format: 1, n, id: `id${n}`, at: "", body: epoch, state }));
  };
  const refuse = () => Promise.reject(new Error("read only"));
  const store: ObjectStore = {
    url: "long:",
    get,
    put: (key, body) => Promise.resolve(void objects.set(key, body)),
    putIfAbsent: refuse,
    delete: refuse,
    list: () => {
      throw new Error("the log's head is not found by listing");
    },
    folders: () => {
      throw new Error("the log's head is not found by listing");
    },
  };
  return { store, requests, objects };
}

/** The hint that a machine leaves after appending record `n`. */
async function hintAt(n: number): Promise<Uint8Array> {
  const { store, objects } = longLog(n - 1);
  const writable: ObjectStore = { ...store, putIfAbsent: () => Promise.resolve("created" as const) };
  const log = machine(writable, { useHint: true });
  expect((await append(log)).n).toBe(n);
  const hint = objects.get("r/latest.json");
  if (!hint) throw new Error("no hint was written");
  return hint;
}

describe("finding the head of a long log", () => {
  it.each([0, 1, 2, 3, 4, 7, 8, 9, 1000, 1_000_000, 1_048_575, 1_048_576])(
    "finds record %i without a hint in at most 60 requests",
    async (length) => {
      const { store, requests } = longLog(length);
      expect((await machine(store, { useHint: true }).head())?.n ?? 0).toBe(length);
      expect(requests.length).toBeLessThanOrEqual(60);
    },
  );

  it("needs at most four requests with a fresh hint, and one to look again", async () => {
    const { store, requests, objects } = longLog(1_000_000);
    objects.set("r/latest.json", await hintAt(1_000_000));
    const log = machine(store, { useHint: true });
    expect((await log.head())?.n).toBe(1_000_000);
    expect(requests.length).toBeLessThanOrEqual(4);
    requests.length = 0;
    await log.head();
    expect(requests).toHaveLength(1);
  });

  it("goes on from a stale hint", async () => {
    const { store, requests, objects } = longLog(1_000_000);
    objects.set("r/latest.json", await hintAt(999_000));
    expect((await machine(store, { useHint: true }).head())?.n).toBe(1_000_000);
    expect(requests.length).toBeLessThanOrEqual(30);
  });

  it("passes over a torn, empty or foreign hint, and one with a changed digit", async () => {
    const whole = await hintAt(1000);
    const other = Buffer.from(Buffer.from(whole).toString().replace('"n":1000', '"n":2000'));
    const hints = [whole.subarray(0, 20), new Uint8Array(), Buffer.from("null"), Buffer.from('{"n":5}'), other];
    for (const hint of hints) {
      const { store, objects } = longLog(1000);
      objects.set("r/latest.json", hint);
      expect((await machine(store, { useHint: true }).head())?.n).toBe(1000);
    }
  });

  it("refuses to go on when a whole hint names a record that is gone", async () => {
    const { store, objects } = longLog(900);
    objects.set("r/latest.json", await hintAt(1000));
    await expect(machine(store, { useHint: true }).head()).rejects.toMatchObject({ code: "OUTLAST_LOG_LOST" });
  });

  it("writes the hint at most once a second, and lives without it when that fails", async () => {
    const clock = new FakeClock();
    const store = withFaults(new MemoryStore(), {
      decide: (call) => (call.operation === "put" ? { when: "before", what: "fail" } : undefined),
    });
    const log = new RunLog(openRun(store, "r"), { clock });
    await append(log);
    await append(log);
    await clock.advance(1000);
    await append(log);
    expect(store.calls.filter((call) => call.operation === "put")).toHaveLength(2);
    expect(log.seen?.n).toBe(3);
  });
});
