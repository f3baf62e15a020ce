import { describe, expect, test } from "vitest";
import { MemoryQueue } from "../support/memory-queue.ts";
import { some, startScene, work } from "./support.ts";

describe("a handler that does its work", () => {
  test("every item has one result, and the worker ends when all are settled", async () => {
    const { queue, result } = await work(some(25));
    expect(result).toMatchObject({ verdict: "drained", exitCode: 0, done: 25, failed: 0, dead: 0, junkLines: 0 });
    expect(queue.get("a7").result).toEqual({ seen: "a7", attempt: 1 });
    expect([...queue.items.values()].every(({ starts }) => starts === 1)).toBe(true);
    expect(queue.calls.filter((call) => call.startsWith("start"))[0]).toBe(`start ${some(10).join(",")} idle`);
  });

  test("in batch mode it gets whole chunks", async () => {
    const { queue, result } = await work([...some(12), "unnamed"], [], { batch: true });
    expect(result).toMatchObject({ done: 12, dead: 1 });
    expect(queue.get("unnamed").error).toContain("do not name this item");
  });

  test("several at once share the work", async () => {
    const { queue, result } = await work(some(60), ["slow=5"], { concurrency: 3, chunk: 4 });
    expect(result).toMatchObject({ verdict: "drained", done: 60 });
    expect(queue.in("done")).toHaveLength(60);
  });

  test("failures are tried again, permanent ones are not", async () => {
    const { queue, told, result } = await work(["flaky", "bad-for-good", "bad", "empty", "a"]);
    expect(result).toMatchObject({ done: 2, dead: 3 });
    expect(queue.get("flaky").result).toEqual({ seen: "flaky", attempt: 2 });
    expect(queue.get("bad-for-good")).toMatchObject({ failures: 1, error: "no picture in bad-for-good" });
    expect(queue.get("bad").failures).toBe(5);
    expect(queue.get("empty").error).toContain('neither "result" nor "error"');
    const delays = told.flatMap(({ name, data }) =>
      name === "worker:failure" && (data as { id: string }).id === "bad"
        ? [(data as { retryDelayMs: number }).retryDelayMs]
        : [],
    );
    expect(delays).toEqual([1000, 2000, 4000, 8000]);
  });

  test("one that ends after each item is started again for the next", async () => {
    const { result, queue } = await work(some(4), ["once"]);
    expect(result).toMatchObject({ done: 4, failed: 0 });
    expect([...queue.items.values()].every(({ failures }) => failures === 0)).toBe(true);
  });
});

describe("a handler that breaks", () => {
  test("the item that ends it is found and charged; its neighbours are not", async () => {
    const { queue, result } = await work([...some(4), "crash", ...some(5, "b")], [], { chunk: 10 });
    expect(result).toMatchObject({ verdict: "drained", done: 9, dead: 1 });
    expect(queue.get("crash")).toMatchObject({ state: "dead", failures: 5 });
    expect(queue.get("crash").error).toBe("the handler exited with code 9; its last words:\ncannot allocate crash");
    expect([...queue.items.values()].filter(({ failures }) => failures > 0)).toHaveLength(1);
  });

  test("ended by a signal: the error says which", async () => {
    const { queue } = await work(["a", "kill", "b"]);
    expect(queue.get("kill").error).toBe("the handler was ended by SIGKILL (137)");
  });

  test("the same in batch mode", async () => {
    const { queue, result } = await work(["a", "crash", "b"], [], { batch: true });
    expect(result).toMatchObject({ done: 2, dead: 1 });
    expect(queue.get("a").failures + queue.get("b").failures).toBe(0);
  });

  test("one that dies at start ends the worker with a clear error, and nothing is charged", async () => {
    const queue = new MemoryQueue().add(...some(12));
    const { worker, stderr } = startScene(queue, ["dies"]);
    await expect(worker.promise).rejects.toMatchObject({
      code: "OUTLAST_HANDLER_FAILED",
      exitCode: 1,
      message: expect.stringContaining("exited with code 3; its last words:\nno module named torch") as string,
    });
    expect(queue.in("ready")).toHaveLength(12);
    expect([...queue.items.values()].every(({ failures }) => failures === 0)).toBe(true);
    expect(stderr()).toContain("no module named torch");
  });

  test("the same when only one item is left to try it on", async () => {
    const queue = new MemoryQueue().add("a");
    await expect(startScene(queue, ["dies"]).worker.promise).rejects.toMatchObject({
      message: expect.stringContaining("ends by itself, before it is given anything") as string,
    });
    expect(queue.get("a")).toMatchObject({ state: "ready", failures: 0 });
  });

  test("one that no item survives ends the worker too", async () => {
    const queue = new MemoryQueue().add(...some(5));
    await expect(startScene(queue, ["crashes"]).worker.promise).rejects.toMatchObject({
      code: "OUTLAST_HANDLER_FAILED",
    });
    expect([...queue.items.values()].every(({ failures }) => failures === 0)).toBe(true);
  });

  test("a lone poisonous item is charged although nothing was ever answered", async () => {
    const { queue, result } = await work(["crash"]);
    expect(result).toMatchObject({ dead: 1, exitCode: 0 });
    expect(queue.get("crash").failures).toBe(5);
  });

  test("a program that is not there", async () => {
    const queue = new MemoryQueue().add("a");
    const { worker } = startScene(queue, [], { handler: { kind: "command", command: ["./no-such-program"] } });
    await expect(worker.promise).rejects.toMatchObject({ code: "OUTLAST_CHILD_NOT_STARTED" });
    expect(queue.get("a")).toMatchObject({ state: "ready", failures: 0 });
  });

  test("an item that is never answered fails after its time, and only it", async () => {
    const { queue, result } = await work(["a", "hang", "b"], [], { itemTimeoutMs: 400 });
    expect(result).toMatchObject({ done: 2, dead: 1 });
    expect(queue.get("hang").error).toBe("no answer within 400ms (--item-timeout)");
    expect(queue.get("b").failures).toBe(0);
  });

  test("the time it takes to load a model is not the first item's", async () => {
    const { result } = await work(some(3), ["loads=700"], { itemTimeoutMs: 300 });
    expect(result).toMatchObject({ done: 3, failed: 0, handlerDeaths: 0 });
  });
});

describe("a handler that writes what it should not", () => {
  test("prints on standard output are counted, shown and otherwise ignored", async () => {
    const { result, warnings } = await work(some(3), ["greets", "prints"]);
    expect(result).toMatchObject({ done: 3, junkLines: 4 });
    expect(warnings()).toContain('"line":"loading the model …"');
  });

  test("an answer that comes twice counts once", async () => {
    const { result, warnings, queue } = await work(some(3), ["twice"]);
    expect(result.done).toBe(3);
    expect(result.junkLines).toBeGreaterThan(0);
    expect(warnings()).toContain("was answered before");
    expect([...queue.items.values()].every(({ failures }) => failures === 0)).toBe(true);
  });

  test("an answer for an id it was not given", async () => {
    const { queue, result } = await work(["a", "stranger", "b"]);
    expect(result).toMatchObject({ done: 2, dead: 1 });
    expect(queue.get("stranger").error).toContain('answered for an id it was not given: {"id":"somebody-else"');
  });

  test("a result larger than a row is refused for good, however the line begins", async () => {
    const { queue, result } = await work(["a", "huge", "late-id", "b"], [], { maxResultBytes: 1_000_000 });
    expect(result).toMatchObject({ done: 2, dead: 2 });
    expect(queue.get("huge")).toMatchObject({ failures: 1 });
    expect(queue.get("huge").error).toContain("larger than --max-result 976.6 KiB");
    expect(queue.get("late-id")).toMatchObject({ failures: 1 });
    expect(queue.get("late-id").error).toContain("wrote a line of 4.8 MiB");
  });

  test("a line of 50 MB costs no more memory than the limit", async () => {
    const before = process.memoryUsage().rss;
    const { queue } = await work(["huge"], ["huge=50000000"]);
    expect(queue.get("huge").error).toContain("47.7 MiB");
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * 1024 * 1024);
  });
});
