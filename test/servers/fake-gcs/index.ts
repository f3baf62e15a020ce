import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { GcsServer } from "../gcs.ts";
import { startServer } from "../server-process.ts";
import type { Answer } from "./answer.ts";
import type { FakeBucket } from "./bucket.ts";
import { FakeCloud, type FakeCloudOptions } from "./handle.ts";

/** How {@link startFakeGcs} starts. */
export interface FakeGcsOptions extends FakeCloudOptions {
  /** @default a free one */
  readonly port?: number;
  /** Waited before each answer. @default 0 */
  readonly latencyMs?: number;
  /** Serves https, as `https://localhost:PORT`. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A GCS server inside this process, whose objects can be reached. */
export interface FakeGcs extends Omit<GcsServer, "pid"> {
  /** The bucket of that name; its objects may be looked at, changed and removed behind the server's back. */
  bucket(name: string): FakeBucket;
}

/** Starts the part of Cloud Storage's JSON API that we use, on loopback, its objects in memory. */
export async function startFakeGcs(options: FakeGcsOptions = {}): Promise<FakeGcs> {
  const cloud = new FakeCloud(options);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    // A request cut off midway changes nothing and has nobody to answer to.
    answer(cloud, request, response, options.latencyMs ?? 0).catch(() => response.destroy());
  };
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer({ noDelay: true }, listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = options.tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    env: { STORAGE_EMULATOR_HOST: url },
    createBucket(name) {
      cloud.createBucket(name);
      return Promise.resolve(`gs://${name}/runs`);
    },
    bucket(name) {
      const bucket = cloud.buckets.get(name);
      if (!bucket) throw new Error(`there is no bucket ${name}`);
      return bucket;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Starts the same server as a process of its own. */
export async function startFakeGcsProcess(options: { readonly port?: number } = {}): Promise<GcsServer> {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const server = await startServer({ command: process.execPath, args: (port) => [main, `${port}`], ...options });
  const env = { STORAGE_EMULATOR_HOST: server.url };
  return { ...server, env, createBucket: (name) => postBucket(server.url, name) };
}

async function postBucket(endpoint: string, name: string): Promise<string> {
  const response = await fetch(`${endpoint}/storage/v1/b?project=outlast-test`, {
    method: "POST",
    body: JSON.stringify({ name }),
  });
  if (!response.ok) throw new Error(`creating bucket ${name}: ${response.status} ${await response.text()}`);
  return `gs://${name}/runs`;
}

async function answer(cloud: FakeCloud, request: IncomingMessage, response: ServerResponse, latencyMs: number) {
  const body = await readBody(request);
  if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
  const { method = "GET", headers } = request;
  send(response, cloud.handle({ method, headers, body, url: new URL(request.url ?? "/", "http://fake") }));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  if (!request.complete) throw new Error("the request was cut off");
  return Buffer.concat(parts);
}

function send(response: ServerResponse, { status, headers = {}, body, bytes }: Answer): void {
  const content = bytes ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
  response.writeHead(status, {
    ...(body !== undefined && { "content-type": "application/json; charset=UTF-8" }),
    ...headers,
    ...(status !== 204 && status !== 304 && { "content-length": `${content?.length ?? 0}` }),
  });
  response.end(content);
}
