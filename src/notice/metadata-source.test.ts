import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createMetadataSource, isOnComputeEngine } from "./metadata-source.ts";
import type { Notice } from "./types.ts";

/** A metadata server on this machine: values with etags, and long polls that wait for a change. */
class MetadataServer {
  readonly requests: string[] = [];
  readonly #values = new Map<string, { value: string; etag: number }>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #server: Server;
  status = 200;
  /** Whether a long poll waits for a change, as it should. */
  waits = true;

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  set(path: string, value: string): void {
    this.#values.set(path, { value, etag: (this.#values.get(path)?.etag ?? 0) + 1 });
    for (const wake of this.#waiting.get(path) ?? []) wake();
    this.#waiting.delete(path);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "", "http://x");
    const path = url.pathname.replace("/computeMetadata/v1/", "");
    this.requests.push(`${path}${url.search}`);
    if (request.headers["metadata-flavor"] !== "Google") {
      response.writeHead(403).end();
      return;
    }
    const send = () => {
      const entry = this.#values.get(path);
      if (this.status !== 200 || !entry) response.writeHead(this.status === 200 ? 404 : this.status).end();
      else response.writeHead(200, { ETag: String(entry.etag) }).end(`${entry.value}\n`);
    };
    const isCurrent = url.searchParams.get("last_etag") === String(this.#values.get(path)?.etag);
    if (url.searchParams.get("wait_for_change") !== "true" || !isCurrent || !this.waits) {
      send();
      return;
    }
    const set = this.#waiting.get(path) ?? new Set();
    this.#waiting.set(path, set.add(send));
    request.on("close", () => set.delete(send));
  }
}

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function setUp(values: Record<string, string>) {
  const server = new MetadataServer();
  for (const [path, value] of Object.entries(values)) server.set(path, value);
  const host = await server.listen();
  const abort = new AbortController();
  cleanups.push(
    () => abort.abort(),
    () => server.close(),
  );
  const warnings: string[] = [];
  const { promise: noticed, resolve } = Promise.withResolvers<Notice>();
  const notices: Notice[] = [];
  const start = () =>
    createMetadataSource({ host, pauseMs: 5 }).start(
      (notice) => {
        notices.push(notice);
        resolve(notice);
      },
      abort.signal,
      (message) => warnings.push(message),
    );
  const until = async (check: () => boolean) => {
    while (!check()) await new Promise((wake) => setTimeout(wake, 2));
  };
  return { server, start, noticed, notices, warnings, until };
}

const calm = { "instance/preempted": "FALSE", "instance/maintenance-event": "NONE" };

test("a preemption is told as soon as the server knows", async () => {
  const { server, start, noticed, until } = await setUp(calm);
  start();
  await until(() => server.requests.filter((line) => line.includes("wait_for_change")).length === 2);
  server.set("instance/preempted", "TRUE");
  expect(await noticed).toEqual({ source: "metadata", kind: "eviction", reason: "the instance is being preempted" });
  expect(server.requests).toContain("instance/preempted?wait_for_change=true&timeout_sec=60&last_etag=1");
});

test("a preemption that was announced before the start is told too", async () => {
  const { start, noticed } = await setUp({ ...calm, "instance/preempted": "TRUE" });
  start();
  expect((await noticed).reason).toContain("preempted");
});

test("host maintenance that ends the instance is a notice; one that moves it is not", async () => {
  const { server, start, noticed, notices, until } = await setUp(calm);
  start();
  await until(() => server.requests.length >= 4);
  server.set("instance/maintenance-event", "MIGRATE_ON_HOST_MAINTENANCE");
  await until(() => server.requests.filter((line) => line.startsWith("instance/maint")).length >= 3);
  expect(notices).toEqual([]);
  server.set("instance/maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE");
  expect((await noticed).reason).toContain("TERMINATE_ON_HOST_MAINTENANCE");
});

test("404 means that it is not offered here: silence, and no second question", async () => {
  const { server, start, notices, warnings, until } = await setUp({});
  start();
  await until(() => server.requests.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(server.requests).toHaveLength(2);
  expect([notices, warnings]).toEqual([[], []]);
});

test("a server that cannot be reached is silence", async () => {
  const { server, start, notices, warnings } = await setUp(calm);
  server.close();
  start();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([notices, warnings]).toEqual([[], []]);
});

test("a server that fails for a while is asked again, more and more slowly", async () => {
  const { server, start, noticed, warnings, until } = await setUp(calm);
  start();
  await until(() => server.requests.length >= 4);
  server.status = 503;
  server.set("instance/preempted", "FALSE");
  await until(() => server.requests.filter((line) => line.startsWith("instance/pre")).length >= 5);
  server.status = 200;
  server.set("instance/preempted", "TRUE");
  expect((await noticed).kind).toBe("eviction");
  expect(warnings).toEqual([]);
});

test("a server that answers every long poll at once is not flooded", async () => {
  const { server, start, until } = await setUp(calm);
  server.waits = false;
  start();
  await until(() => server.requests.length >= 4);
  const before = server.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(server.requests.length - before).toBeLessThan(25);
});

test("it is on by itself only where the machine says so, and asks nobody to find out", async () => {
  const dir = await mkdtemp(join(tmpdir(), "outlast-dmi-"));
  const file = join(dir, "product_name");
  expect(isOnComputeEngine({}, file)).toBe(false);
  await writeFile(file, "Standard PC\n");
  expect(isOnComputeEngine({}, file)).toBe(false);
  expect(isOnComputeEngine({ GCE_METADATA_HOST: "127.0.0.1:1" }, file)).toBe(true);
  await writeFile(file, "Google Compute Engine\n");
  expect(isOnComputeEngine({}, file)).toBe(true);
  await rm(dir, { recursive: true });
});
