import { describe, expect, it } from "vitest";
import { OutlastError, systemClock } from "../core/index.ts";
import { FileStore } from "./file/index.ts";
import { Aside } from "./file/aside.ts";
import { setAddress } from "./store-address.ts";
import { faultAt, MemoryStore, type ObjectStore, storeAddress, withFaults, withLimit, withRetry } from "./index.ts";

const body = Buffer.from("x");
const clock = { ...systemClock, sleep: () => Promise.resolve() };

async function keysOf(store: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list("")) keys.push(key);
  return keys;
}

describe("withFaults", () => {
  it("counts calls in order", async () => {
    const store = withFaults(new MemoryStore());
    await store.put("a", body);
    await store.get("a");
    await keysOf(store);
    await store.delete("a");
    expect(store.calls.map(({ number, operation, key }) => `${number} ${operation} ${key}`)).toEqual([
      "1 put a",
      "2 get a",
      "3 list ",
      "4 delete a",
    ]);
  });

  it("fails before a call, which then has no effect, or after it, when only the answer is lost", async () => {
    for (const when of ["before", "after"] as const) {
      const inner = new MemoryStore();
      const store = withFaults(inner, faultAt(1, { when, what: "fail" }));
      await expect(store.putIfAbsent("a", body)).rejects.toMatchObject({ recovery: "retry" });
      expect(inner.objects.has("a")).toBe(when === "after");
      expect(await store.putIfAbsent("a", body)).toBe(when === "after" ? "exists" : "created");
    }
  });

  it("dies for good: no later call has any effect", async () => {
    const inner = new MemoryStore();
    let died = 0;
    const plan = { ...faultAt(2, { when: "after", what: "die" } as const), die: () => died++ };
    const store = withFaults(inner, plan);
    await store.put("a", body);
    await expect(store.put("b", body)).rejects.toMatchObject({ recovery: "give-up" });
    await expect(store.put("c", body)).rejects.toMatchObject({ recovery: "give-up" });
    await expect(keysOf(store)).rejects.toMatchObject({ recovery: "give-up" });
    expect(store.isDead).toBe(true);
    expect(died).toBe(1);
    expect([...inner.objects.keys()]).toEqual(["a", "b"]);
  });
});

describe("withRetry", () => {
  it("repeats what may pass and nothing else", async () => {
    let attempts = 0;
    const inner = new MemoryStore();
    const faulty: ObjectStore = Object.assign(Object.create(inner) as MemoryStore, {
      get: () => {
        attempts += 1;
        const recovery = attempts < 3 ? ("retry" as const) : ("give-up" as const);
        return Promise.reject(new OutlastError("OUTLAST_STORE_FAILED", `attempt ${attempts}`, { recovery }));
      },
    });
    await expect(withRetry(faulty, { clock }).get("a")).rejects.toThrow("attempt 3");
  });

  it("goes on with a broken-off listing behind the last key, without repeating any", async () => {
    const inner = new MemoryStore();
    for (const key of ["a", "b", "c", "d"]) await inner.put(key, body);
    let breaks = 2;
    const faulty: ObjectStore = Object.assign(Object.create(inner) as MemoryStore, {
      async *list(prefix: string) {
        for await (const info of inner.list(prefix)) {
          yield info;
          if (info.key === "b" && breaks-- > 0) {
            throw new OutlastError("OUTLAST_STORE_FAILED", "broken off", { recovery: "retry" });
          }
        }
      },
    });
    expect(await keysOf(withRetry(faulty, { clock }))).toEqual(["a", "b", "c", "d"]);
  });
});

describe("withLimit", () => {
  it("never has more calls under way than allowed, and loses no place to an aborted waiter", async () => {
    let running = 0;
    let most = 0;
    const inner = new MemoryStore();
    const slow: ObjectStore = Object.assign(Object.create(inner) as MemoryStore, {
      put: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      },
    });
    const store = withLimit(slow, 3);
    const controller = new AbortController();
    const work = Array.from({ length: 20 }, (_, i) =>
      store.put(`k${i}`, body, i % 4 === 3 ? { signal: controller.signal } : undefined),
    );
    controller.abort();
    const outcomes = await Promise.allSettled(work);
    expect(most).toBe(3);
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(5);
    await Promise.all(Array.from({ length: 5 }, (_, i) => store.put(`again${i}`, body)));
    expect(running).toBe(0);
  });

  it("lets a caller delete what it lists with a limit of one", async () => {
    const store = withLimit(new MemoryStore(), 1);
    for (const key of ["a", "b"]) await store.put(key, body);
    for await (const { key } of store.list("")) await store.delete(key);
    expect(await keysOf(store)).toEqual([]);
  });
});

it("keeps the url, and a store's address only where no faults lie in between", () => {
  const address = { kind: "folder", root: "/r" } as const;
  const file = setAddress(new FileStore("u", "/r", new Aside("/r"), true), address);
  expect(withRetry(withLimit(withFaults(file), 1), { clock }).url).toBe("u");
  expect(storeAddress(file)).toEqual(address);
  expect(storeAddress(withRetry(withLimit(file, 1), { clock }))).toEqual(address);
  expect(storeAddress(withRetry(withFaults(file), { clock }))).toBeUndefined();
  expect(storeAddress(new MemoryStore())).toBeUndefined();
});
