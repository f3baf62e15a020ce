import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Manifest } from "../../src/checkpoint/manifest.ts";
import { createTransfer, type Transfer } from "../../src/checkpoint/transfer/index.ts";
import { type ObjectStore, openStore } from "../../src/storage/index.ts";
import { describeTree, readTree } from "../conformance/file-tree.ts";
import { type FakeGcs, startFakeGcs } from "../servers/fake-gcs/index.ts";
import { type FaultProxy, type ProxyFault, startFaultProxy } from "../servers/fault-proxy.ts";
import type { ProxiedRequest } from "../servers/fault-proxy-request.ts";
import { manifestOf } from "./manifest-of.ts";

const MiB = 1024 * 1024;
const prefix = "a/";

let folder: string;
let source: string;
let server: FakeGcs;
let proxy: FaultProxy;
let transfer: Transfer;
let store: ObjectStore;
let decide: (request: ProxiedRequest) => ProxyFault | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "outlast-faults-"));
  source = join(folder, "source");
  await mkdir(source);
  server = await startFakeGcs();
  decide = () => undefined;
  proxy = await startFaultProxy({ target: server.url, host: "rewrite", decide: (request) => decide(request) });
  // Threads get a copy of the environment when they start.
  process.env["STORAGE_EMULATOR_HOST"] = proxy.url;
  transfer = createTransfer();
  store = await openStore(await server.createBucket("bucket"), { access: "write" });
});
afterEach(async () => {
  delete process.env["STORAGE_EMULATOR_HOST"];
  await transfer.close();
  await proxy.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const isChunk = ({ key }: ProxiedRequest) => key.includes("/chunks/");

/** Sends files of these sizes. */
async function ship(sizes: readonly number[], signal?: AbortSignal): Promise<Manifest> {
  for (const [number, size] of sizes.entries()) await writeFile(join(source, `f${number}`), randomBytes(size));
  const { files } = await describeTree(source);
  const request = { store, prefix, hash: "blake3" as const, owner: "1-1", files, reusable: new Map(), signal };
  return manifestOf(await transfer.send(request));
}

async function restore(manifest: Manifest): Promise<void> {
  const into = join(folder, "restored");
  await rm(into, { recursive: true, force: true });
  await transfer.fetch({ store, prefix, manifest, into });
  expect(await readTree(into)).toEqual(await readTree(source));
}

/** A fault for each chunk's first `times` requests of a kind. */
function firstTimes(times: number, method: string, fault: ProxyFault): typeof decide {
  const seen = new Map<string, number>();
  return (request) => {
    if (!isChunk(request) || request.method !== method) return undefined;
    const count = (seen.get(request.key) ?? 0) + 1;
    seen.set(request.key, count);
    return count <= times ? fault : undefined;
  };
}

describe("a transfer in threads over a bad network", { timeout: 60_000 }, () => {
  it.each([
    ["a burst of 503", { kind: "status", status: 503 }],
    ["a burst of 429", { kind: "status", status: 429 }],
    ["connections reset before the server hears of it", { kind: "drop", when: "before" }],
    ["answers lost after the server has stored the chunk", { kind: "drop", when: "after" }],
    ["bytes changed on their way to the server", { kind: "flip-request", at: 0.5 }],
  ] as const)("sends through %s", async (_, fault) => {
    decide = firstTimes(1, "POST", fault);
    const manifest = await ship([9 * MiB, 3 * MiB, 10]);
    expect([...proxy.done.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(3);
    decide = () => undefined;
    expect(await transfer.verify({ store, prefix, manifest })).toEqual([]);
    await restore(manifest);
  });

  it.each([
    ["a burst of 503", { kind: "status", status: 503 }],
    ["answers cut off by a reset", { kind: "half-response", end: "reset" }],
    ["answers cut short that claim to be whole", { kind: "short-response" }],
    ["bytes changed on their way from the server", { kind: "flip-response", at: 0.5 }],
  ] as const)("restores through %s", async (_, fault) => {
    const manifest = await ship([9 * MiB, 3 * MiB, 10]);
    decide = firstTimes(1, "GET", fault);
    await restore(manifest);
    expect([...proxy.done.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ["large", 0],
    ["small", -1],
  ] as const)("calls a %s chunk damaged that comes wrong twice", async (_, index) => {
    const manifest = await ship([9 * MiB, 10]);
    const chunk = manifest.chunks.at(index);
    decide = (request) =>
      request.method === "GET" && request.key.endsWith(chunk?.key ?? "")
        ? { kind: "flip-response", at: 0.3 }
        : undefined;
    const work = transfer.fetch({ store, prefix, manifest, into: join(folder, "restored") });
    await expect(work).rejects.toMatchObject({ code: "OUTLAST_CHECKPOINT_DAMAGED", recovery: "reset" });
    const wrong = [{ key: chunk?.key, fault: "wrong content" }];
    expect(await transfer.verify({ store, prefix, manifest })).toEqual(wrong);
  });

  it("breaks off what hangs when it is told to stop, and works on", async () => {
    let hanging = 0;
    let isHung: () => void = () => {};
    const hung = new Promise<void>((resolve) => {
      isHung = resolve;
    });
    decide = (request) => {
      if (!isChunk(request)) return undefined;
      hanging += 1;
      if (hanging === 4) isHung();
      return { kind: "silence" };
    };
    const abort = new AbortController();
    const reason = new Error("out of time");
    const work = ship([80 * MiB], abort.signal);
    await hung;
    const began = performance.now();
    abort.abort(reason);
    await expect(work).rejects.toBe(reason);
    // It would be half a minute if the silence had to be waited for.
    expect(performance.now() - began).toBeLessThan(5000);
    decide = () => undefined;
    await rm(join(source, "f0"));
    // All buffers are free again, or this would wait for ever.
    await restore(await ship([80 * MiB]));
  });

  it("tells what the server said, with its code and hint", async () => {
    await ship([10]);
    const body = JSON.stringify({ error: { message: "no access", errors: [{ reason: "forbidden" }] } });
    decide = (request) => (isChunk(request) ? { kind: "status", status: 403, body } : undefined);
    await writeFile(join(source, "f0"), randomBytes(10));
    await expect(ship([10])).rejects.toMatchObject({
      name: "OutlastError",
      code: "OUTLAST_STORE_DENIED",
      hint: expect.stringMatching(/\S/) as string,
      recovery: "give-up",
    });
  });
});
