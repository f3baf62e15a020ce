import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { childProgram, type DriverEnd, endDrivers, startDriver, trainer } from "../support/driver.ts";
import type { DriverRequest } from "../fixtures/supervise-driver.ts";

afterAll(endDrivers);

interface Row extends Omit<DriverRequest, "report"> {
  readonly name: string;
  /** Sent once the child is ready. */
  readonly send?: NodeJS.Signals;
  readonly code: number;
  readonly verdict?: string;
  readonly error?: string;
  readonly calls?: readonly string[];
}

const whole = ["begin", "watch pid", "finish exited", "complete", "close"];
const noticed = ["begin", "watch pid", "noticed", "finish exited deadline", "close"];

const rows: readonly Row[] = [
  { name: "0 by itself: finished", command: trainer("--exit=0"), code: 0, verdict: "finished", calls: whole },
  { name: "3 by itself: its own code", command: trainer("--exit=3"), code: 3, verdict: "failed" },
  { name: "a signal that we did not send: 128 + n", command: trainer("--raise=SIGKILL"), code: 137, verdict: "failed" },
  { name: "75 by itself is its own code", command: trainer("--exit=75"), code: 75, verdict: "failed" },
  {
    name: "0 after SIGTERM: evicted",
    command: trainer(),
    send: "SIGTERM",
    code: 75,
    verdict: "evicted",
    calls: noticed,
  },
  {
    // 128 + 15 is how careful programs say that they left on purpose: what they saved is looked at as after 0.
    name: "143 after SIGTERM: evicted",
    command: trainer("--code=143"),
    send: "SIGTERM",
    code: 75,
    verdict: "evicted",
    calls: noticed,
  },
  {
    // An exception may have come in the middle of a save.
    name: "1 after SIGTERM: evicted",
    command: trainer("--code=1"),
    send: "SIGTERM",
    code: 75,
    verdict: "evicted",
    calls: ["begin", "watch pid", "noticed", "finish died deadline", "close"],
  },
  { name: "killed by the forwarded signal: evicted", command: ["sleep", "60"], send: "SIGTERM", code: 75 },
  { name: "0 after SIGQUIT: evicted", command: trainer(), send: "SIGQUIT", code: 75, verdict: "evicted" },
  { name: "0 after SIGHUP: evicted", command: trainer(), send: "SIGHUP", code: 75, verdict: "evicted" },
  { name: "0 after SIGINT: interrupted", command: trainer(), send: "SIGINT", code: 130, verdict: "interrupted" },
  {
    name: "exitOnEviction 0",
    command: trainer(),
    send: "SIGTERM",
    options: { exitOnEviction: 0 },
    code: 0,
    verdict: "evicted",
  },
  {
    name: "said finished, then SIGTERM: finished",
    command: trainer("--socket", "--finished"),
    send: "SIGTERM",
    session: { completeMs: 100 },
    code: 0,
    verdict: "finished",
    calls: ["begin", "watch pid", "noticed", "finish exited deadline", "complete", "close"],
  },
  {
    name: "said finished, but its last checkpoint did not fit: evicted",
    command: trainer("--socket", "--finished"),
    send: "SIGTERM",
    session: { report: { committedStep: 3, lostStep: 4 } },
    code: 75,
    verdict: "evicted",
  },
  {
    name: "the file of --finished-when is there: finished",
    command: trainer(),
    send: "SIGTERM",
    options: { finishedWhen: process.execPath },
    code: 0,
    verdict: "finished",
  },
  {
    name: "the file of --finished-when is not there: evicted",
    command: trainer(),
    send: "SIGTERM",
    options: { finishedWhen: "/nonexistent/done" },
    code: 75,
    verdict: "evicted",
  },
  {
    name: "finished before: the program is not started",
    command: trainer("--exit=9"),
    session: { begin: { kind: "already-finished" } },
    code: 0,
    verdict: "finished",
    calls: ["begin", "close"],
  },
  {
    name: "0 by itself, but its last checkpoint is not stored: failed",
    command: trainer("--exit=0"),
    session: { report: { committedStep: 3, lostStep: 4 } },
    code: 1,
    verdict: "failed",
    calls: ["begin", "watch pid", "finish exited", "close"],
  },
  {
    name: "0 by itself, an older step was skipped: finished",
    command: trainer("--exit=0"),
    session: { report: { committedStep: 4, lostStep: 3 } },
    code: 0,
    verdict: "finished",
  },
  {
    name: "0 by itself, storing fails: the error",
    command: trainer("--exit=0"),
    session: { finishError: "OUTLAST_STORE_UNREACHABLE" },
    code: 1,
    error: "OUTLAST_STORE_UNREACHABLE",
  },
  {
    name: "3 by itself, storing fails: its own code",
    command: trainer("--exit=3"),
    session: { finishError: "OUTLAST_STORE_UNREACHABLE" },
    code: 3,
    verdict: "failed",
  },
  {
    name: "storing fails after SIGTERM: evicted all the same",
    command: trainer(),
    send: "SIGTERM",
    session: { finishError: "OUTLAST_STORE_UNREACHABLE" },
    code: 75,
    verdict: "evicted",
  },
  {
    name: "overtaken: 77",
    command: trainer("--ignore"),
    session: { ended: { reason: "superseded", afterMs: 100 } },
    options: { graceMs: 15_000, overtakenGraceMs: 3_000 },
    code: 77,
    verdict: "superseded",
  },
  {
    name: "another shard started anew: 75",
    command: trainer(),
    session: { ended: { reason: "gang-ended", afterMs: 100 } },
    code: 75,
    verdict: "gang-ended",
  },
  {
    name: "the gang ended while a success was recorded: 75",
    command: trainer("--exit=0"),
    session: { completion: "gang-ended" },
    code: 75,
    verdict: "gang-ended",
  },
  {
    name: "overtaken while a success was recorded: 77",
    command: trainer("--exit=0"),
    session: { completion: "superseded" },
    code: 77,
    verdict: "superseded",
  },
  {
    name: "no good checkpoint: 76, and the program is not started",
    command: trainer("--exit=0"),
    session: { beginError: "OUTLAST_NO_GOOD_CHECKPOINT" },
    code: 76,
    error: "OUTLAST_NO_GOOD_CHECKPOINT",
    calls: ["begin", "close"],
  },
  {
    name: "overtaken at the start: 77",
    command: trainer("--exit=0"),
    session: { beginError: "OUTLAST_SUPERSEDED" },
    code: 77,
    error: "OUTLAST_SUPERSEDED",
  },
  {
    name: "no such program: 2",
    command: ["/nonexistent/program"],
    code: 2,
    error: "OUTLAST_CHILD_NOT_STARTED",
    calls: ["begin", "close"],
  },
];

describe("exit codes", () => {
  for (const row of rows) {
    test.concurrent(`${row.name}`, async () => {
      const { name: _, send, code, verdict, error, calls, ...request } = row;
      const driver = startDriver(request);
      if (send) {
        if (request.command[0] === "sleep") await started(driver.dir);
        else await driver.said(request.command.includes("--socket") ? '"hello"' : "ready");
        driver.kill(send);
      }
      const end = await driver.ended;
      expect({ code: end.code, verdict: end.report.result?.verdict, error: end.report.error }).toEqual({
        code,
        verdict: verdict ?? end.report.result?.verdict,
        error,
      });
      expect(end.report.calls).toEqual(calls ?? end.report.calls);
    });
  }
});

test.concurrent("the handler everyone copies (save, exit 0 in the middle of the loop) does not finish the run", async () => {
  const driver = startDriver({ command: ["python3", childProgram("copied-handler.py"), "saved.txt"] });
  await driver.said("ready");
  driver.kill("SIGTERM");
  const end: DriverEnd = await driver.ended;
  expect(readFileSync(join(driver.dir, "saved.txt"), "utf8")).toMatch(/^step \d+$/);
  expect(end.report.result).toMatchObject({ exitCode: 75, verdict: "evicted", childCode: 0, forced: false });
  expect(end.report.calls).not.toContain("complete");
});

/** Waits until a program that says nothing has been started. */
async function started(dir: string): Promise<void> {
  const { processesOf } = await import("../support/driver.ts");
  for (let look = 0; look < 200 && processesOf(dir).length < 2; look += 1)
    await new Promise((resolve) => setTimeout(resolve, 25));
  expect(existsSync(dir)).toBe(true);
}
