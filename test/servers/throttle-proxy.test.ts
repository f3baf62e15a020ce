import { createServer, type IncomingMessage, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sighting, startThrottleProxy, type ThrottleProxy } from "./throttle-proxy.ts";

const patient = { timeout: 20_000 };
const received: number[] = [];
const broken: string[] = [];
const server = createServer((request, response) => {
  buffer(request).then(
    (body) => {
      received.push(body.length);
      response.end(request.method === "GET" ? Buffer.alloc(100_000) : undefined);
    },
    () => void broken.push(request.url ?? ""),
  );
});
let proxy: ThrottleProxy;
let sights: Sighting[];

beforeEach(async () => {
  received.length = 0;
  sights = [];
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy = await startThrottleProxy({
    target: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    host: "keep",
    bytesPerSecond: 1_000_000,
    onSight: (sighting) => sights.push(sighting),
  });
});

afterEach(async () => {
  await proxy.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function ask(
  method: string,
  body: Buffer = Buffer.alloc(0),
  signal: AbortSignal = new AbortController().signal,
): Promise<Buffer> {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const out = httpRequest(`${proxy.url}/b/k`, { method, agent: false, signal }, resolve);
    out.once("error", reject);
    out.end(body);
  }).then(buffer);
}

describe("a throttling proxy", () => {
  it("is as narrow as it is told to be, for all connections together", async () => {
    const started = performance.now();
    await Promise.all([ask("PUT", Buffer.alloc(100_000)), ask("PUT", Buffer.alloc(100_000))]);
    expect(performance.now() - started).toBeGreaterThan(180);
    expect(received).toEqual([100_000, 100_000]);
  });

  it("throttles answers too", async () => {
    const started = performance.now();
    expect((await ask("GET")).length).toBe(100_000);
    expect(performance.now() - started).toBeGreaterThan(80);
  });

  it("tells how far a request has come", async () => {
    await ask("PUT", Buffer.alloc(100_000));
    const phases = [...new Set(sights.map(({ phase }) => phase))];
    expect(phases).toEqual(["begun", "sending", "answered"]);
    expect(sights.at(-1)).toMatchObject({ request: { verb: "put", key: "k" }, sentBytes: 100_000, status: 200 });
  });

  it("at rate 0 takes connections and never answers, and wakes when it is told to", async () => {
    proxy.bytesPerSecond = 0;
    let isOver = false;
    const asked = ask("PUT", Buffer.alloc(10)).then(() => (isOver = true));
    await expect.poll(() => sights.length, patient).toBe(1);
    expect([isOver, received]).toEqual([false, []]);
    proxy.bytesPerSecond = 1_000_000;
    await asked;
  });

  it("a client that goes away in the middle takes its half request with it", async () => {
    const gone = new AbortController();
    const asked = ask("PUT", Buffer.alloc(32_000_000), gone.signal);
    await expect.poll(() => sights.some(({ sentBytes }) => sentBytes > 50_000), patient).toBe(true);
    gone.abort();
    // What the client's machine had sent is still on its way.
    proxy.bytesPerSecond = 1e9;
    await expect(asked).rejects.toMatchObject({ code: "ABORT_ERR" });
    await expect.poll(() => broken.length, patient).toBe(1);
    expect(received).toEqual([]);
  });
});
