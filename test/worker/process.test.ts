import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLedger } from "../../src/results/index.ts";
import { startOutlast } from "../support/outlast-process.ts";
import { runOutlast } from "../support/run-outlast.ts";
import { handlerCommand } from "./support.ts";

let dir: string;
let url: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "outlast-work-"));
  url = `sqlite:${join(dir, "jobs.db")}`;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function publish(...ids: readonly string[]): Promise<void> {
  await writeFile(join(dir, "items.csv"), `id\n${ids.join("\n")}\n`);
  const { code, stderr } = await runOutlast(["publish", "items.csv", "--queue", url, "--id", "id"], { cwd: dir });
  expect(code, stderr).toBe(0);
}

const ids = (count: number, name = "a") => Array.from({ length: count }, (_, i) => `${name}${i}`);

/** Starts a worker whose handler writes down what it begins. */
function startWorker(handler: readonly string[], ...flags: readonly string[]) {
  const command = handlerCommand(...handler, `log=${join(dir, "begun")}`);
  return startOutlast(["work", "--queue", url, "--notice", "signal", ...flags, "--", ...command], { cwd: dir });
}

/** What handlers began: `id attempt` a line. */
async function begun(): Promise<string[]> {
  const text = await readFile(join(dir, "begun"), "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}

async function untilBegun(count: number): Promise<void> {
  while ((await begun()).length < count) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function audit(): Promise<{ ok: boolean; published: number; done: number; dead: number; missing: string[] }> {
  const { stdout } = await runOutlast(["queue", "audit", "--queue", url, "--json"]);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof audit>>;
}

describe("outlast work", () => {
  test("SIGTERM with a full chunk: exit 75, everything claimable at once, nothing charged", async () => {
    await publish(...ids(20));
    const worker = startWorker(["slow=60000"], "--lease", "600s");
    await untilBegun(1);
    worker.kill("SIGTERM");
    const { code, stderr } = await worker.ended;
    expect(code, stderr).toBe(75);

    const ledger = await openLedger(url);
    const back = await ledger.lease(100, 60_000, "another");
    expect(back).toHaveLength(20);
    const starts = await ledger.start(back.slice(0, 1), {
      holder: "another",
      leaseMs: 60_000,
      isIdle: true,
      limits: { attempts: 5, suspectAfter: 2, lonelyInterruptions: 20 },
    });
    expect(starts).toMatchObject([{ kind: "started", failures: 0 }]);
    expect((await ledger.depth()).interruptions).toBe(0);
    await ledger.close();
    expect(stderr).toContain('"handedBack":10');
  });

  test("SIGKILL: another worker finishes its items once the lease is over", async () => {
    await publish(...ids(12));
    const first = startWorker(["slow=60000"], "--lease", "2s");
    await untilBegun(1);
    first.kill("SIGKILL");
    await first.ended;
    const { code, stderr } = await startWorker([], "--lease", "2s", "--until-drained").ended;
    expect(code, stderr).toBe(0);
    expect(await audit()).toMatchObject({ ok: true, published: 12, done: 12 });
    const { stdout } = await runOutlast(["queue", "status", "--queue", url, "--json"]);
    // Only what was started is charged with the interruption, never what had been pulled ahead.
    expect(JSON.parse(stdout)).toMatchObject({ interruptions: 10, dead: 0 });
  });

  test("a handler that blocks for five leases runs once, though another worker waits for the item", async () => {
    await publish("a0");
    const first = startWorker(["block=5500"], "--lease", "1s", "--until-drained");
    await untilBegun(1);
    const second = startWorker([], "--lease", "1s", "--until-drained");
    const ends = await Promise.all([first.ended, second.ended]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    expect(await begun()).toEqual(["a0 1"]);
    expect(await audit()).toMatchObject({ ok: true, done: 1 });
    expect(ends[0].stderr).toContain('"leasesLost":0');
  });

  test("poison, junk and failures among good items: all settled, each once", async () => {
    await publish(...ids(30), "crash", "bad-for-good", "huge", "flaky", "stranger");
    const workers = [0, 1].map(() =>
      startWorker(["prints"], "--until-drained", "--attempts", "2", "--concurrency", "2", "--log-level", "error"),
    );
    for (const { code, stderr } of await Promise.all(workers.map(({ ended }) => ended))) expect(code, stderr).toBe(0);
    expect(await audit()).toMatchObject({ ok: true, published: 35, done: 31, dead: 4, missing: [] });
    const { stdout } = await runOutlast(["queue", "dead", "--queue", url, "--json"]);
    const { dead } = JSON.parse(stdout) as { dead: { id: string; error: string; failures: number }[] };
    expect(dead.map(({ id, failures }) => `${id} ${failures}`).sort()).toEqual([
      "bad-for-good 1",
      "crash 2",
      "huge 1",
      "stranger 2",
    ]);
    expect(dead.find(({ id }) => id === "crash")?.error).toContain("exited with code 9");
  });

  test("a handler that dies at start: exit 1, the reason, nothing charged", async () => {
    await publish(...ids(5));
    const { code, stderr } = await startWorker(["dies"]).ended;
    expect(code).toBe(1);
    expect(stderr).toContain("exited with code 3; its last words:\nno module named torch");
    expect(stderr).toContain("hint: run the handler by hand");
    const ledger = await openLedger(url);
    expect(await ledger.lease(10, 1000, "another")).toHaveLength(5);
    await ledger.close();
  });

  test("Ctrl-C ends with 130; the handler in its own session does not see it", async () => {
    await publish(...ids(3));
    const worker = startWorker(["slow=60000"]);
    await untilBegun(1);
    worker.kill("SIGINT");
    expect((await worker.ended).code).toBe(130);
  });

  test("--exit-on-eviction gives another code", async () => {
    await publish(...ids(3));
    const worker = startWorker(["slow=60000"], "--exit-on-eviction", "0");
    await untilBegun(1);
    worker.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
  });
});
