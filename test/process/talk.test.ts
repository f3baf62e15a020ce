import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type DriverEnd, endDrivers, startDriver, trainer } from "../support/driver.ts";

afterAll(endDrivers);

/** What the child heard on its socket. */
const heard = (end: DriverEnd) =>
  [...end.stdout.matchAll(/heard (.*)/g)].map(([, line]) => JSON.parse(line ?? "") as Record<string, unknown>);

test.concurrent("the child hears hello and the notice, and is heard", async () => {
  const driver = startDriver({
    command: trainer("--socket", "--step", "--flush=500"),
    session: { begin: { attempt: 2, resume: { step: 5, path: "/x" }, stepMs: 1000 }, intervalMs: 60_000 },
    options: { graceMs: 4000 },
  });
  await driver.said('"hello"');
  await new Promise((resolve) => setTimeout(resolve, 100));
  driver.kill("SIGTERM");
  const end = await driver.ended;
  const [hello, notice] = heard(end);
  expect(hello).toEqual({
    type: "hello",
    version: 1,
    run: "test",
    attempt: 2,
    resume_step: 5,
    resume_path: "/x",
    save_interval_seconds: 60,
    save_interval_steps: 60,
  });
  expect(notice).toMatchObject({ type: "notice", reason: "SIGTERM" });
  expect(notice?.["deadline"]).toBeCloseTo(2, 1);
  expect(end.report.result?.steps).toMatchObject({ first: 1, last: 1 });
  expect(end.report.journal.map(({ event }) => event)).toEqual(["start", "first-step", "notice", "exit"]);
});

test.concurrent("noise on the socket gives warnings, never a crash", async () => {
  const driver = startDriver({ command: trainer("--socket", "--noise", "--exit-after-socket") });
  const end = await driver.ended;
  expect(end.code).toBe(0);
  const warnings = end.report.events
    .filter(({ name }) => name === "supervisor:warning")
    .map((event) => event["message"]);
  expect(warnings).toEqual([
    expect.stringContaining("not JSON"),
    expect.stringContaining('"dance" is not a known type'),
    expect.stringContaining("longer than 65536 bytes"),
  ]);
  expect(end.report.result?.steps.last).toBe(42);
});

test.concurrent("the socket's directory is gone afterwards", async () => {
  const driver = startDriver({
    command: ["sh", "-c", 'echo "$OUTLAST_SOCKET"; ls -ld "$(dirname "$OUTLAST_SOCKET")"'],
  });
  const end = await driver.ended;
  const [path = "", listing] = end.stdout.split("\n");
  expect(listing).toMatch(/^drwx------/);
  expect(existsSync(dirname(path))).toBe(false);
});

describe("saves are asked for", () => {
  test.concurrent("when the interval is over", async () => {
    const driver = startDriver({
      command: trainer("--socket", "--save-on-request", "--flush=300"),
      session: { intervalMs: 300 },
    });
    await driver.said('"save"');
    driver.kill("SIGTERM");
    const end = await driver.ended;
    expect(heard(end)).toContainEqual({ type: "save", reason: "interval" });
    expect(end.report.calls).toContain("childSaved ckpt 7");
  });

  test.concurrent("ahead of a known end; once committed the run is stopped", async () => {
    const driver = startDriver({
      command: trainer("--socket", "--save-on-request", "--flush=300"),
      session: { commitMs: 200 },
      endsInMs: 20_000,
      options: { minLeadMs: 19_500, graceMs: 2500 },
    });
    const end = await driver.ended;
    expect(heard(end).map(({ type }) => type)).toEqual(["hello", "save", "notice"]);
    expect(end.report.result).toMatchObject({ exitCode: 75, committedStep: 7, forced: false });
    // Well before the grace that a child which does not listen would have been left.
    expect(end.report.endedAt).toBeLessThan((end.report.endsAt ?? 0) - 2500);
  });

  test.concurrent("a child that does not listen is stopped one grace before a known end", async () => {
    const driver = startDriver({
      command: trainer("--ignore"),
      endsInMs: 4500,
      options: { minLeadMs: 4000, graceMs: 3000 },
    });
    await driver.said("got SIGTERM");
    const end = await driver.ended;
    expect(end.code).toBe(75);
    const { endsAt = 0, endedAt, lagMs } = end.report;
    const stopped = end.report.events.find((event) => event["effect"] === "stopping");
    expect(stopped?.at).toBeGreaterThanOrEqual(endsAt - 3000);
    expect(endedAt).toBeLessThanOrEqual(endsAt - 1000 + 2 * lagMs);
  });
});
