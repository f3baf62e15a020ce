import { createServer, type IncomingMessage, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FaultProxy, type ProxyFault, startFaultProxy } from "./fault-proxy.ts";
import type { ProxiedRequest } from "./fault-proxy-request.ts";

/** Keeps what is put, refuses `If-None-Match: *` on what is there, and remembers every request it heard whole. */
class Origin {
  readonly objects = new Map<string, Buffer>();
  readonly heard: string[] = [];
  readonly broken: string[] = [];
  readonly #server = createServer((request, response) => {
    const key = request.url ?? "";
    void buffer(request).then(
      (body) => {
        this.heard.push(`${request.method} ${key} ${request.headers.host}`);
        if (request.method === "PUT") {
          const isTaken = request.headers["if-none-match"] === "*" && this.objects.has(key);
          if (!isTaken) this.objects.set(key, body);
          response.writeHead(isTaken ? 412 : 200, { "X-Kept": "Yes" }).end();
        } else response.end(this.objects.get(key));
      },
      () => void this.broken.push(key),
    );
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let origin: Origin;
let proxy: FaultProxy;
let target: string;
let faults: (ProxyFault | undefined)[];
let seen: ProxiedRequest[];

beforeEach(async () => {
  origin = new Origin();
  faults = [];
  seen = [];
  target = await origin.listen();
  proxy = await startFaultProxy({
    target,
    host: "keep",
    decide: (request) => {
      seen.push(request);
      return faults.shift();
    },
  });
});

afterEach(async () => {
  await proxy.stop();
  origin.close();
});

/** One request on a connection of its own. */
async function ask(method: string, path: string, body = "", headers: Record<string, string> = {}): Promise<Reply> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const out = httpRequest(`${proxy.url}${path}`, { method, agent: false, headers }, resolve);
    out.once("error", reject);
    out.end(body);
  });
  return { status: answer.statusCode, headers: answer.headers, body: (await buffer(answer)).toString() };
}

const put = (body: string, headers: Record<string, string> = {}) => ask("PUT", "/b/k", body, headers);
const get = () => ask("GET", "/b/k");
const ifAbsent = { "if-none-match": "*" };

describe("a fault proxy", () => {
  it("passes requests and answers on as they are", async () => {
    expect(await put("bytes", { "X-Amz-Meta": "v" })).toMatchObject({ status: 200, headers: { "x-kept": "Yes" } });
    expect(await get()).toMatchObject({ status: 200, body: "bytes" });
    expect(seen).toMatchObject([
      { number: 1, verb: "put", key: "k" },
      { number: 2, verb: "get", key: "k" },
    ]);
    expect(seen[0]?.rawHeaders).toContain("X-Amz-Meta");
    expect(origin.heard[0]).toBe(`PUT /b/k 127.0.0.1:${proxy.port}`);
  });

  it("can give the server its own name, for servers that insist on it", async () => {
    const other = await startFaultProxy({ target, host: "rewrite" });
    await fetch(`${other.url}/b/k`);
    await other.stop();
    expect(origin.heard).toEqual([`GET /b/k ${new URL(target).host}`]);
  });

  it("drops before: the server hears nothing", async () => {
    faults = [{ kind: "drop", when: "before" }];
    await expect(put("bytes")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(origin.heard).toEqual([]);
  });

  it("drops after: the server has applied it", async () => {
    faults = [{ kind: "drop", when: "after" }];
    await expect(put("bytes", ifAbsent)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(origin.objects.get("/b/k")?.toString()).toBe("bytes");
    // Its client tries again and is told that it is there: its own.
    expect((await put("bytes", ifAbsent)).status).toBe(412);
  });

  it("delays", async () => {
    faults = [{ kind: "delay", ms: 30 }];
    const started = performance.now();
    expect((await put("bytes")).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThanOrEqual(29);
  });

  it("applies twice and gives the second answer", async () => {
    faults = [{ kind: "twice" }];
    expect((await put("bytes", ifAbsent)).status).toBe(412);
    expect(origin.heard.length).toBe(2);
  });

  it("applies once more later", async () => {
    faults = [{ kind: "again-later", ms: 5 }];
    expect((await put("old")).status).toBe(200);
    await proxy.settled();
    expect(origin.heard.length).toBe(2);
    expect(origin.objects.get("/b/k")?.toString()).toBe("old");
  });

  it("applies late what it has dropped", async () => {
    faults = [{ kind: "ghost", ms: 20 }];
    await expect(put("bytes")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(origin.heard).toEqual([]);
    await proxy.settled();
    expect(origin.objects.get("/b/k")?.toString()).toBe("bytes");
  });

  it("cuts a request in the middle of its body, which the server must not take for whole", async () => {
    faults = [{ kind: "half-request" }];
    await expect(put("0123456789")).rejects.toMatchObject({ code: "ECONNRESET" });
    await expect.poll(() => origin.broken, { timeout: 20_000 }).toEqual(["/b/k"]);
    expect(origin.objects.size).toBe(0);
  });

  it.each(["reset", "close"] as const)("cuts an answer in the middle of its body: %s", async (end) => {
    origin.objects.set("/b/k", Buffer.from("0123456789"));
    faults = [{ kind: "half-response", end }];
    await expect(get()).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("shortens an answer so that its length is no sign of it", async () => {
    origin.objects.set("/b/k", Buffer.from("0123456789"));
    faults = [{ kind: "short-response" }];
    expect(await get()).toMatchObject({ status: 200, body: "01234", headers: { "content-length": "5" } });
  });

  it("changes a byte of an answer, and of a request", async () => {
    origin.objects.set("/b/k", Buffer.from("00000"));
    faults = [{ kind: "flip-response", at: 0.5 }];
    expect((await get()).body).toBe("00 00");
    faults = [{ kind: "flip-request", at: 0.99 }];
    await put("00000");
    expect(origin.objects.get("/b/k")?.toString()).toBe("0000 ");
  });

  it("changes the object in a multipart upload, not what describes it", async () => {
    const body = '--x\r\nContent-Type: application/json\r\n\r\n{"name": "runs/r/k"}\r\n--x\r\n\r\n00000\r\n--x--';
    faults = [{ kind: "flip-request", at: 0 }];
    await ask("PUT", "/upload/storage/v1/b/bucket/o?uploadType=multipart", body, {
      "content-type": "multipart/related; boundary=x",
    });
    expect(seen[0]).toMatchObject({ key: "runs/r/k", verb: "put" });
    expect([...origin.objects.values()][0]?.toString()).toBe(body.replace("00000", " 0000"));
  });

  it("answers in the server's place, as often as it is told to", async () => {
    faults = Array.from({ length: 3 }, () => ({ kind: "status", status: 503, body: "slow down" }) as const);
    for (let n = 0; n < 3; n += 1) expect(await put("bytes")).toMatchObject({ status: 503, body: "slow down" });
    expect(origin.heard).toEqual([]);
    expect((await put("bytes")).status).toBe(200);
    expect([...proxy.done]).toEqual([["503", 3]]);
  });

  it("says nothing at all, while other requests go on", async () => {
    faults = [{ kind: "silence" }];
    let isOver = false;
    const asked = get().then(
      () => (isOver = true),
      () => (isOver = true),
    );
    expect((await put("bytes")).status).toBe(200);
    expect(isOver).toBe(false);
    await proxy.stop();
    await asked;
  });
});

describe("which object a request is about", () => {
  it.each([
    ["GET", "/storage/v1/b/bucket/o/runs%2Fr%2Flog%2F1.json?alt=media", "get", "runs/r/log/1.json"],
    ["DELETE", "/storage/v1/b/bucket/o/runs%2Fr%2Fk", "delete", "runs/r/k"],
    ["POST", "/upload/storage/v1/b/bucket/o?uploadType=media&name=runs%2Fr%2Fk", "put", "runs/r/k"],
    ["GET", "/storage/v1/b/bucket/o?prefix=runs%2Fr%2F", "list", "runs/r/"],
    ["GET", "/storage/v1/b/bucket", "other", ""],
    ["GET", "/bucket/runs/r/log/1.json", "get", "runs/r/log/1.json"],
    ["PUT", "/bucket/runs/r/k?x-id=PutObject", "put", "runs/r/k"],
    ["GET", "/bucket?list-type=2&prefix=runs%2Fr%2F", "list", "runs/r/"],
    ["HEAD", "/bucket", "other", ""],
  ])("%s %s", async (method, path, verb, key) => {
    await ask(method, path);
    expect(seen[0]).toMatchObject({ verb, key });
  });
});
