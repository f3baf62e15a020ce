import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { type Driver, endDrivers, processesOf, startDriver, trainer } from "../support/driver.ts";
import { needs } from "../support/need.ts";

const inNamespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const [unshare = "", ...flags] = inNamespace;
const canUnshare = spawnSync(unshare, [...flags, "true"]).status === 0;

afterAll(endDrivers);

/** Leaves five orphans that end, then counts the zombies. */
const orphans = [
  "sh",
  "-c",
  'for i in 1 2 3 4 5; do (sleep 0.1 &); done; sleep 0.6; grep -l "^State:.Z" /proc/[0-9]*/status | wc -l',
];

/** Signals the namespace's PID 1: unshare's only child, as seen from outside. */
function signalPidOne(driver: Driver, signal: NodeJS.Signals): void {
  const pid = readFileSync(`/proc/${driver.pid}/task/${driver.pid}/children`, "utf8").trim();
  process.kill(Number(pid), signal);
}

describe.skipIf(!needs("PID namespaces", canUnshare, "run as root on Linux with util-linux's unshare"))(
  "as PID 1",
  () => {
    test.concurrent("orphans that end are collected", async () => {
      const driver = startDriver({ command: orphans }, inNamespace);
      const end = await driver.ended;
      expect(end.stdout.trim()).toBe("0");
      expect(end.code).toBe(0);
    });

    test.concurrent("without a shell in our place they stay as zombies, which harm nobody until they are many", async () => {
      const driver = startDriver({ command: orphans }, ["env", "TEST_NO_INIT=1", ...inNamespace]);
      const end = await driver.ended;
      expect(end.stdout.trim()).toBe("5");
      expect(end.code).toBe(0);
    });

    for (const [signal, how] of [
      ["SIGTERM", "as ever"],
      ["SIGINT", "as an image's STOPSIGNAL"],
      ["SIGQUIT", "as an image's STOPSIGNAL"],
    ] as const) {
      test.concurrent(`${signal}, ${how}, is a notice; nothing is left`, async () => {
        const driver = startDriver({ command: trainer("--fork", "--daemon") }, inNamespace);
        await driver.said("ready");
        signalPidOne(driver, signal);
        const end = await driver.ended;
        expect(end.code).toBe(75);
        expect(end.report.result).toMatchObject({ verdict: "evicted", childCode: 0 });
        expect(end.stdout).toContain("got SIGTERM");
        expect(processesOf(driver.dir)).toEqual([]);
      });
    }

    test.concurrent("the exit code and standard input come through", async () => {
      const driver = startDriver({ command: ["sh", "-c", "read line; echo got $line; exit 7"] }, inNamespace);
      driver.process.stdin?.end("hello\n");
      const end = await driver.ended;
      expect(end.stdout).toBe("got hello\n");
      expect(end.code).toBe(7);
    });
  },
);
