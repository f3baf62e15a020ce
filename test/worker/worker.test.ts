import { describe, expect, test } from "vitest";
import { OutlastError } from "../../src/core/index.ts";
import { createManualSource } from "../../src/notice/index.ts";
import { MemoryQueue } from "../support/memory-queue.ts";
import { some, startScene, work } from "./support.ts";

/** Resolves once `holds` does; polled, because what is waited for happens in another process. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const passing = () => new OutlastError("OUTLAST_DATABASE_UNREACHABLE", "the database restarts", { recovery: "retry" });

describe("pulling and starting", () => {
  test("one chunk is pulled ahead and never more; it is not started before the one at work has ended", async () => {
    const queue = new MemoryQueue().add(...some(9));
    const { worker } = startScene(queue, ["slow=20"], { chunk: 3 });
    const seen: string[] = [];
    queue.before = (call) => {
      if (call === "start" || call === "settle") {
        seen.push(`${call}: ${queue.in("leased").length} leased, ${queue.in("started").length} started`);
      }
    };
    await worker.promise;
    // At a start: the chunk itself and the one ahead are leased. The last chunk may be unsettled still, while its results are stored.
    for (const line of seen.filter((one) => one.startsWith("start"))) {
      expect(line).toMatch(/^start: [36] leased, [03] started$/);
    }
    expect(queue.in("done")).toHaveLength(9);
  });

  test("what is found done when it is started is not handled again", async () => {
    const queue = new MemoryQueue().add(...some(5));
    queue.before = (call) => {
      if (call === "start") queue.get("a2").state = "done";
    };
    const { worker } = startScene(queue, []);
    expect((await worker.promise).done).toBe(4);
    expect(queue.get("a2")).toMatchObject({ starts: 0, result: undefined });
  });

  test("an empty queue with an open publication is waited for", async () => {
    const queue = new MemoryQueue();
    queue.isClosed = false;
    const { worker } = startScene(queue, []);
    await until(() => queue.calls.filter((call) => call === "isDrained").length >= 2);
    queue.add("late");
    queue.isClosed = true;
    expect(await worker.promise).toMatchObject({ verdict: "drained", done: 1 });
  });

  test("items in the hands of others are waited for", async () => {
    const queue = new MemoryQueue().add("mine", "others");
    queue.get("others").state = "started";
    const { worker } = startScene(queue, []);
    await until(() => queue.in("done").length === 1 && queue.calls.filter((call) => call === "isDrained").length >= 2);
    queue.get("others").state = "ready";
    expect(await worker.promise).toMatchObject({ done: 2 });
  });

  test("a slow chunk is settled piece by piece", async () => {
    const queue = new MemoryQueue().add(...some(2));
    await startScene(queue, ["slow=1100"]).worker.promise;
    const settles = queue.calls.filter((call) => call.startsWith("settle"));
    expect(settles).toEqual(["settle a0:result", "settle a1:result"]);
  });
});

describe("suspects", () => {
  test("start alone, when nothing else is started, and nothing starts beside them", async () => {
    const queue = new MemoryQueue().add(...some(20), "suspect", ...some(20, "b"));
    queue.get("suspect").isSuspect = true;
    let beside = -1;
    queue.before = (call) => {
      if (queue.get("suspect").state === "started") beside = Math.max(beside, queue.in("started").length - 1);
      if (call === "settle" && queue.get("suspect").state === "started")
        expect(queue.in("started")).toEqual(["suspect"]);
    };
    const { worker } = startScene(queue, ["slow=3"], { concurrency: 3, chunk: 4 });
    expect(await worker.promise).toMatchObject({ done: 41 });
    expect(beside).toBe(0);
    expect(queue.calls).toContain("start suspect idle");
    expect(queue.get("suspect").starts).toBe(1);
  });
});

describe("leases", () => {
  test("of everything in hand are renewed, the chunk ahead too", async () => {
    const queue = new MemoryQueue().add(...some(6));
    const { worker } = startScene(queue, ["slow=150"], { chunk: 3, leaseMs: 150 });
    await worker.promise;
    expect(queue.renewed.some((ids) => ids.includes("a0") && ids.includes("a5"))).toBe(true);
  });

  test("that are lost are told; what was started is finished and offered all the same", async () => {
    const queue = new MemoryQueue().add(...some(6));
    queue.lost.add("a1").add("a4");
    const { worker, told } = startScene(queue, ["slow=60"], { chunk: 3, leaseMs: 150 });
    queue.before = (call) => {
      if (call !== "settle") return;
      // Another worker was first.
      if (queue.get("a1").state === "started") queue.get("a1").state = "done";
      if (queue.get("a3").state === "started") queue.get("a4").state = "done";
    };
    const result = await worker.promise;
    expect(result).toMatchObject({ leasesLost: 2, late: 1, done: 4 });
    expect(told.filter(({ name }) => name === "worker:lease-lost")).toHaveLength(1);
    // Lost before it was started: not started at all.
    expect(queue.get("a4").starts).toBe(0);
  });

  test("are tried again when renewing fails", async () => {
    const queue = new MemoryQueue().add("a");
    let failures = 2;
    queue.before = (call) => {
      if (call === "renew" && failures-- > 0) throw passing();
    };
    const { worker, warnings } = startScene(queue, ["slow=400"], { leaseMs: 150 });
    await worker.promise;
    expect(queue.renewed.length).toBeGreaterThan(0);
    expect(warnings()).toContain("leases could not be renewed");
  });
});

describe("a queue that fails", () => {
  test("for a while is waited for, and nothing is acked that was not stored", async () => {
    const queue = new MemoryQueue().add(...some(12));
    const failing = new Map([
      ["pull", 2],
      ["start", 2],
      ["settle", 3],
      ["isDrained", 1],
    ]);
    queue.before = (call) => {
      const left = failing.get(call) ?? 0;
      failing.set(call, left - 1);
      if (left > 0) throw passing();
    };
    const { worker, warnings } = startScene(queue, []);
    expect(await worker.promise).toMatchObject({ verdict: "drained", done: 12 });
    expect([...queue.items.values()].every(({ starts }) => starts === 1)).toBe(true);
    expect(warnings()).toContain("the queue answers again");
  });

  test("for longer than the patience ends the worker with a clear error", async () => {
    const queue = new MemoryQueue().add("a");
    queue.before = (call) => {
      if (call === "settle") throw passing();
    };
    const { worker } = startScene(queue, [], { queuePatienceMs: 300 });
    await expect(worker.promise).rejects.toMatchObject({ code: "OUTLAST_QUEUE_UNREACHABLE", exitCode: 1 });
    expect(queue.get("a").state).toBe("started");
  });

  test("in a way that cannot pass ends it at once", async () => {
    const queue = new MemoryQueue().add("a");
    queue.before = (call) => {
      if (call === "start") throw new OutlastError("OUTLAST_DATABASE_NOT_WRITABLE", "the database is read-only");
    };
    const { worker } = startScene(queue, []);
    await expect(worker.promise).rejects.toMatchObject({ code: "OUTLAST_DATABASE_NOT_WRITABLE" });
    expect(queue.calls.filter((call) => call.startsWith("start"))).toHaveLength(1);
  });
});

describe("a notice", () => {
  test("gives back at once what cannot be finished, uncharged: started items recorded, prefetched ones released", async () => {
    const queue = new MemoryQueue().add(...some(8));
    const source = createManualSource();
    const { worker, told } = startScene(queue, ["slow=60000"], { chunk: 4, notices: [source] });
    await until(() => queue.in("started").length === 4 && queue.in("leased").length === 4);
    source.give({ kind: "eviction", reason: "SIGTERM" });
    const result = await worker.promise;
    expect(result).toMatchObject({ verdict: "evicted", exitCode: 75, handedBack: 4, done: 0 });
    expect(result.noticeToEndMs).toBeLessThan(5000);
    expect(queue.in("ready")).toHaveLength(8);
    expect([...queue.items.values()].every(({ failures }) => failures === 0)).toBe(true);
    expect(queue.calls).toContain("settle a0:hand-back,a1:hand-back,a2:hand-back,a3:hand-back");
    expect(queue.calls).toContain("release a4,a5,a6,a7");
    expect(told).toContainEqual({ name: "worker:handed-back", data: { started: 4, prefetched: 4 } });
  });

  test("lets what fits by measured time be finished", async () => {
    const queue = new MemoryQueue().add(...some(12));
    const source = createManualSource();
    const { worker } = startScene(queue, ["slow=40"], { chunk: 6, notices: [source] });
    await until(() => queue.in("done").length === 6);
    source.give({});
    const result = await worker.promise;
    expect(result).toMatchObject({ verdict: "evicted", exitCode: 75, done: 12, handedBack: 0 });
  });

  test("keeps only as many as fit", async () => {
    const queue = new MemoryQueue().add(...some(20));
    const source = createManualSource();
    // 150 ms an item, 10 a chunk; of a grace of 2 s about half a second is for handlers.
    const { worker } = startScene(queue, ["slow=150"], { chunk: 10, graceMs: 2000, notices: [source] });
    await until(() => queue.in("done").length === 10 && queue.in("started").length === 10);
    source.give({});
    const result = await worker.promise;
    expect(result.handedBack).toBeGreaterThan(0);
    expect(result.done + result.handedBack).toBe(20);
    expect(result.noticeToEndMs).toBeLessThan(1300);
    expect([...queue.items.values()].every(({ failures }) => failures === 0)).toBe(true);
  });

  test("a handler that will not end is killed in time", async () => {
    const queue = new MemoryQueue().add("a");
    const source = createManualSource();
    const { worker, stderr } = startScene(queue, ["deaf", "block=60000"], { graceMs: 2500, notices: [source] });
    await until(() => stderr().includes("deaf"));
    source.give({});
    const result = await worker.promise;
    expect(result).toMatchObject({ exitCode: 75, handedBack: 1 });
    // Asked first, then killed: out a second before the deadline.
    expect(result.noticeToEndMs).toBeGreaterThan(1000);
    expect(result.noticeToEndMs).toBeLessThan(1700);
  });

  test("an interrupt ends with 130, a second one without waiting", async () => {
    const queue = new MemoryQueue().add("a");
    const source = createManualSource();
    const { worker, stderr } = startScene(queue, ["deaf", "block=60000"], { notices: [source] });
    await until(() => stderr().includes("deaf"));
    source.give({ kind: "interrupt" });
    source.give({ kind: "force" });
    const result = await worker.promise;
    expect(result).toMatchObject({ verdict: "interrupted", exitCode: 130 });
    expect(result.noticeToEndMs).toBeLessThan(1500);
    expect(queue.in("ready")).toEqual(["a"]);
  });

  test("while the queue is away: gives up in time and says so", async () => {
    const queue = new MemoryQueue().add("a");
    const source = createManualSource();
    const { worker, warnings } = startScene(queue, ["slow=60000"], { graceMs: 2500, notices: [source] });
    await until(() => queue.in("started").length === 1);
    queue.before = () => {
      throw passing();
    };
    source.give({});
    const result = await worker.promise;
    expect(result).toMatchObject({ exitCode: 75, handedBack: 0 });
    expect(result.noticeToEndMs).toBeLessThan(1700);
    expect(warnings()).toContain("could not be settled in time");
  });

  test("after the queue was found drained changes nothing: the work is finished", async () => {
    const { result } = await work(["a"]);
    expect(result.exitCode).toBe(0);
  });

  test("a known end is a notice when it comes near", async () => {
    const queue = new MemoryQueue().add("a");
    const source = createManualSource();
    const { worker, told } = startScene(queue, ["slow=60000"], { graceMs: 2000, notices: [source] });
    await until(() => queue.in("started").length === 1);
    source.give({ kind: "planned-end", endsAtMs: Date.now() + 2200 });
    expect(await worker.promise).toMatchObject({ verdict: "evicted", handedBack: 1 });
    expect(told[0]).toMatchObject({ name: "worker:notice", data: { effect: "planned" } });
  });

  test("stop and dispose do the same", async () => {
    const queue = new MemoryQueue().add("a");
    const { worker } = startScene(queue, ["slow=60000"]);
    await until(() => queue.in("started").length === 1);
    expect(await worker.stop()).toMatchObject({ verdict: "evicted", exitCode: 75 });
    expect(await worker.stop()).toBe(await worker.promise);
  });
});
