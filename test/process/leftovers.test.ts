import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { endDrivers, processesOf, startDriver, trainer } from "../support/driver.ts";

afterAll(endDrivers);

describe("what the child leaves behind is ended", () => {
  for (const flag of ["--fork", "--daemon", "--bare"]) {
    test.concurrent(`after its own end: ${flag}`, async () => {
      const driver = startDriver({ command: trainer("--exit=0", flag), options: { leftoverMs: 300 } });
      const end = await driver.ended;
      expect(processesOf(driver.dir)).toEqual([]);
      const found = end.report.events.find((event) => event.name === "supervisor:leftovers");
      expect(found).toMatchObject({ found: 1, killed: 1 });
      // It may have been in the middle of a write.
      expect(end.report.calls).toContain("finish died");
      expect(end.code).toBe(0);
    });

    test.concurrent(`after a notice: ${flag}`, async () => {
      const driver = startDriver({ command: trainer(flag) });
      await driver.said("ready");
      driver.kill("SIGTERM");
      const end = await driver.ended;
      expect(processesOf(driver.dir)).toEqual([]);
      expect(end.code).toBe(75);
    });
  }

  test.concurrent("a trainer behind a launcher that forwards nothing still gets to save", async () => {
    const driver = startDriver({ command: trainer("--polite-fork=saved.txt", "--code=143") });
    await driver.said("ready");
    driver.kill("SIGTERM");
    const end = await driver.ended;
    expect(read(join(driver.dir, "saved.txt"))).toBe("saved by the real trainer");
    expect(end.report.result).toMatchObject({ exitCode: 75, forced: false });
  });
});

test.concurrent("a process of somebody else is left alone", async () => {
  const { spawn } = await import("node:child_process");
  const stranger = spawn("sleep", ["30"], { stdio: "ignore" });
  try {
    const driver = startDriver({ command: trainer("--exit=0", "--fork"), options: { leftoverMs: 100 } });
    await driver.ended;
    expect(stranger.exitCode).toBeNull();
    expect(stranger.signalCode).toBeNull();
  } finally {
    stranger.kill("SIGKILL");
  }
});

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not there yet.
    return undefined;
  }
}
