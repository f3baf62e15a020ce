import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/core/index.ts";
import { MemoryStore, type ObjectStore, openStore, withFaults, withLimit, withRetry } from "../../src/storage/index.ts";
import { describeObjectStore, type StoreUnderTest } from "./object-store.ts";

async function openTemporary(
  decorate: (store: ObjectStore) => ObjectStore = (store) => store,
): Promise<StoreUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), "outlast-store-"));
  const open = async () => decorate(await openStore(join(folder, "store"), { access: "write" }));
  return { store: await open(), openAgain: open, dispose: () => rm(folder, { recursive: true, force: true }) };
}

function inMemory(decorate: (store: ObjectStore) => ObjectStore): Promise<StoreUnderTest> {
  const store = decorate(new MemoryStore());
  return Promise.resolve({ store, openAgain: () => Promise.resolve(store), dispose: () => Promise.resolve() });
}

/** Every third call fails once before it is carried out; retrying must hide that. */
function flaky(store: ObjectStore): ObjectStore {
  const faulty = withFaults(store, {
    decide: (call) => (call.number % 3 === 0 ? { when: "before", what: "fail" } : undefined),
  });
  return withRetry(faulty, { clock: { ...systemClock, sleep: () => Promise.resolve() } });
}

describeObjectStore("memory", () => inMemory((store) => store));
describeObjectStore("directory", () => openTemporary());
describeObjectStore("directory with a limit of 2", () => openTemporary((store) => withLimit(store, 2)));
describeObjectStore("memory with retried faults", () => inMemory(flaky));
describeObjectStore("directory with retries, a limit and counted calls", () =>
  openTemporary((store) => withRetry(withLimit(withFaults(store), 4), { clock: systemClock })),
);
