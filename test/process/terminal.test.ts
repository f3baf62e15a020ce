import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { endDrivers, startDriver, trainer } from "../support/driver.ts";

afterAll(endDrivers);

const inTerminal = (script: string) => [
  "python3",
  join(import.meta.dirname, "../fixtures/in-terminal.py"),
  script,
  "--",
];

test.concurrent("Ctrl-C reaches the child once, from the terminal, and exits 130", async () => {
  const driver = startDriver({ command: trainer("--flush=400") }, inTerminal("ready=03"));
  const end = await driver.ended;
  expect(end.code).toBe(130);
  expect(end.report.result).toMatchObject({ verdict: "interrupted", childCode: 0, forced: false });
  expect(end.stdout.match(/got SIGINT/g)).toHaveLength(1);
  expect(end.stdout).not.toContain("got SIGTERM");
});

test.concurrent("the terminal is the child's own too: it can ask there, whatever its standard input is", async () => {
  const command = ["sh", "-c", "echo name?; read name < /dev/tty; echo hello $name"];
  const driver = startDriver({ command }, inTerminal("name?=616e6e610a"));
  const end = await driver.ended;
  expect(end.stdout).toContain("hello anna");
  expect(end.code).toBe(0);
});

test.concurrent("what the child leaves behind on a terminal is ended too", async () => {
  const driver = startDriver(
    { command: trainer("--fork", "--daemon", "--exit=0"), options: { leftoverMs: 200 } },
    inTerminal("never=00"),
  );
  const end = await driver.ended;
  expect(end.code).toBe(0);
  expect(end.report.events.find(({ name }) => name === "supervisor:leftovers")).toMatchObject({ found: 2 });
});
