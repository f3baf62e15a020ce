import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { HandlerItem } from "../../src/worker/index.ts";
import { MemoryQueue } from "../support/memory-queue.ts";
import { some, startScene, work } from "./support.ts";

const fixture = (name: string) => ({ kind: "module", path: join(import.meta.dirname, "fixtures", name) }) as const;

describe("a function in a file", () => {
  test("is called for each item; what it throws is the failure, what it prints is shown", async () => {
    const { queue, result, stderr } = await work(["a", "refused", "flaky", "nothing"], [], {
      handler: fixture("module-handler.ts"),
    });
    expect(result).toMatchObject({ done: 3, dead: 1, junkLines: 0 });
    expect(queue.get("a").result).toEqual({ seen: "a", isFirstCall: true });
    expect(queue.get("nothing").result).toBe(null);
    expect(queue.get("refused")).toMatchObject({ failures: 1 });
    expect(queue.get("refused").error).toMatch(/^Error: never\n/);
    expect(queue.get("flaky")).toMatchObject({ state: "done", failures: 1 });
    expect(stderr()).toContain("print of a\n");
  });

  test("with --batch it gets the chunk and answers for each", async () => {
    const { queue } = await work([...some(3), "odd"], [], { handler: fixture("batch-handler.mjs"), batch: true });
    expect(queue.get("a1").result).toBe("a1 of 4");
    expect(queue.get("odd")).toMatchObject({ state: "dead", error: "odd one out" });
  });

  test("a file without a function ends the worker, and nothing is charged", async () => {
    const queue = new MemoryQueue().add("a");
    const { worker, stderr } = startScene(queue, [], {
      handler: { kind: "module", path: join(import.meta.dirname, "support.ts") },
    });
    await expect(worker.promise).rejects.toMatchObject({ code: "OUTLAST_HANDLER_FAILED" });
    expect(stderr()).toContain("exports no function");
    expect(queue.get("a")).toMatchObject({ state: "ready", failures: 0 });
  });
});

describe("an endpoint", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  type Body = HandlerItem & { readonly items?: readonly HandlerItem[] };

  /** Serves `answer` on a free port; `undefined` hangs up. */
  async function serve(
    answer: (body: Body) => { status?: number; body: unknown } | "hang" | "hang up",
    port = 0,
  ): Promise<string> {
    const made = createServer((request, response) => {
      let text = "";
      request.on("data", (part: Buffer) => {
        text += part.toString();
      });
      request.on("end", () => {
        const given = answer(JSON.parse(text) as Body);
        if (given === "hang") return;
        if (given === "hang up") {
          request.socket.destroy();
          return;
        }
        response
          .writeHead(given.status ?? 200)
          .end(typeof given.body === "string" ? given.body : JSON.stringify(given.body));
      });
    }).listen(port, "127.0.0.1");
    server = made;
    await new Promise((resolve) => made.once("listening", resolve));
    return `http://127.0.0.1:${(made.address() as AddressInfo).port}/infer`;
  }

  test("gets each item; its status says what became of it", async () => {
    const url = await serve(({ id, attempt }) => {
      if (id === "bad") return { status: 422, body: "no picture" };
      if (id === "busy" && attempt === 1) return { status: 429, body: "later" };
      if (id === "broken" && attempt === 1) return { status: 503, body: "" };
      if (id === "text") return { body: "hello" };
      if (id === "gone" && attempt === 1) return "hang up";
      if (id === "huge") return { body: "x".repeat(2_000_000) };
      return { body: { seen: id, attempt } };
    });
    const ids = ["a", "bad", "busy", "broken", "text", "gone", "huge"];
    const { queue, result } = await work(ids, [], { handler: { kind: "http", url } });
    expect(result).toMatchObject({ done: 4, dead: 3 });
    expect(queue.get("bad")).toMatchObject({ failures: 1, error: `${url} answered 422: no picture` });
    expect(queue.get("busy").result).toEqual({ seen: "busy", attempt: 2 });
    expect(queue.get("broken").result).toEqual({ seen: "broken", attempt: 2 });
    expect(queue.get("gone").result).toEqual({ seen: "gone", attempt: 2 });
    expect(queue.get("text")).toMatchObject({ failures: 5 });
    expect(queue.get("text").error).toContain("not JSON: hello");
    expect(queue.get("huge").error).toContain("larger than --max-result 1.0 MiB");
  });

  test("that does not answer fails the item after its time", async () => {
    const url = await serve(() => "hang");
    const { queue } = await work(["slow"], [], { handler: { kind: "http", url }, itemTimeoutMs: 50 });
    expect(queue.get("slow")).toMatchObject({ state: "dead", error: "no answer within 50ms (--item-timeout)" });
  });

  test("with --batch it gets the chunk", async () => {
    const url = await serve(({ items = [] }) => ({
      body: { results: items.filter(({ id }) => id !== "left-out").map(({ id }) => ({ id, result: items.length })) },
    }));
    const { queue } = await work([...some(4), "left-out"], [], { handler: { kind: "http", url }, batch: true });
    expect(queue.get("a0").result).toBe(5);
    expect(queue.get("left-out").error).toContain("does not name this item");
  });

  test("that is not there yet is waited for, uncharged", async () => {
    const url = await serve(() => ({ body: 1 }));
    const port = Number(new URL(url).port);
    await new Promise((resolve) => server?.close(resolve));
    const queue = new MemoryQueue().add("a");
    const { worker, told } = startScene(queue, [], { handler: { kind: "http", url } });
    while (!told.some(({ name }) => name === "worker:warning")) await new Promise((resolve) => setTimeout(resolve, 5));
    await serve(() => ({ body: 2 }), port);
    expect(await worker.promise).toMatchObject({ done: 1, failed: 0 });
  });

  test("that never comes ends the worker, uncharged", async () => {
    const url = await serve(() => ({ body: 1 }));
    await new Promise((resolve) => server?.close(resolve));
    const queue = new MemoryQueue().add("a");
    const { worker } = startScene(queue, [], { handler: { kind: "http", url }, queuePatienceMs: 200 });
    await expect(worker.promise).rejects.toMatchObject({ code: "OUTLAST_HANDLER_FAILED" });
    expect(queue.get("a")).toMatchObject({ state: "ready", failures: 0 });
  });
});
