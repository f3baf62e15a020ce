import { afterAll, describe, expect, test } from "vitest";
import { endDrivers, startDriver, trainer } from "../support/driver.ts";

afterAll(endDrivers);

/** Wall-clock milliseconds at which the child says it got a signal. */
const gotAt = (stdout: string, signal: string) => Number(new RegExp(`got ${signal} (\\d+)`).exec(stdout)?.[1]);

test("the stop signal reaches the child within 50 ms", async () => {
  const delays: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const driver = startDriver({ command: trainer() });
    await driver.said("ready");
    const sentAt = driver.kill("SIGTERM");
    delays.push(gotAt((await driver.ended).stdout, "SIGTERM") - sentAt);
  }
  const median = delays.toSorted((a, b) => a - b)[2];
  expect(median, `delays ${delays.join(", ")} ms`).toBeLessThanOrEqual(50);
});

test.concurrent("another stop signal may be chosen", async () => {
  const driver = startDriver({ command: trainer(), options: { stopSignal: "SIGUSR1" } });
  await driver.said("ready");
  driver.kill("SIGTERM");
  const end = await driver.ended;
  expect(end.stdout).toContain("got SIGUSR1");
  expect(end.stdout).not.toContain("got SIGTERM");
});

describe("scope", () => {
  for (const scope of ["main", "tree", "group"] as const) {
    test.concurrent(`${scope}`, async () => {
      const driver = startDriver({
        command: ["sh", "-c", `trap 'echo main got it; sleep 0.3; exit 0' TERM; ${trainer().join(" ")} & wait; wait`],
        options: { stopScope: scope },
      });
      await driver.said("ready");
      const sentAt = driver.kill("SIGTERM");
      const end = await driver.ended;
      expect(end.stdout).toContain("main got it");
      // With `main` the grandchild is told only when it is left over.
      const delay = gotAt(end.stdout, "SIGTERM") - sentAt;
      expect(delay > 250).toBe(scope === "main");
    });
  }
});

describe("a second signal", () => {
  test.concurrent("SIGTERM again changes nothing: the child keeps its time", async () => {
    const driver = startDriver({ command: trainer("--flush=800"), options: { graceMs: 4000 } });
    await driver.said("ready");
    driver.kill("SIGTERM");
    await driver.said("got SIGTERM");
    driver.kill("SIGTERM");
    const end = await driver.ended;
    expect(end.report.result).toMatchObject({ exitCode: 75, childCode: 0, forced: false });
    expect(end.stdout.match(/got SIGTERM/g)).toHaveLength(1);
    const effects = end.report.events
      .filter((event) => event.name === "supervisor:notice")
      .map((event) => event["effect"]);
    expect(effects).toEqual(["stopping", "repeat"]);
  });

  test.concurrent("Ctrl-C again kills the child, and what is complete is still shipped", async () => {
    const driver = startDriver({ command: trainer("--ignore"), options: { graceMs: 15_000 } });
    await driver.said("ready");
    const sentAt = driver.kill("SIGINT");
    await driver.said("got SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 350));
    driver.kill("SIGINT");
    const end = await driver.ended;
    expect(end.report.result).toMatchObject({ exitCode: 130, childSignal: "SIGKILL", forced: true });
    expect(end.report.calls).toContain("finish died deadline");
    expect(end.atMs - sentAt).toBeLessThan(3000);
  });

  test.concurrent("an echo of the same Ctrl-C does not count as a second one", async () => {
    const driver = startDriver({ command: trainer("--flush=500"), options: { graceMs: 4000 } });
    await driver.said("ready");
    driver.kill("SIGINT");
    await driver.said("got SIGINT");
    driver.kill("SIGINT");
    expect((await driver.ended).report.result).toMatchObject({ exitCode: 130, childCode: 0, forced: false });
  });

  test.concurrent("SIGINT after SIGTERM does not wait for the child, and stays an eviction", async () => {
    const driver = startDriver({ command: trainer("--ignore"), options: { graceMs: 15_000 } });
    await driver.said("ready");
    const sentAt = driver.kill("SIGTERM");
    await driver.said("got SIGTERM");
    driver.kill("SIGINT");
    const end = await driver.ended;
    expect(end.report.result).toMatchObject({ exitCode: 75, forced: true });
    expect(end.atMs - sentAt).toBeLessThan(3000);
  });
});
