import { afterAll, expect, test } from "vitest";
import { childProgram, endDrivers, startDriver, trainer } from "../support/driver.ts";

afterAll(endDrivers);

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString("latin1");

test.concurrent("standard input, output and error pass through untouched", async () => {
  const driver = startDriver({ command: [process.execPath, childProgram("raw-bytes.ts")] });
  driver.process.stdin?.end(Buffer.from(`<${allBytes}>`, "latin1"));
  const end = await driver.ended;
  expect(end.stdout).toBe(`${allBytes}no newline at the end<${allBytes}>`);
  expect(end.stderr).toBe(allBytes.split("").reverse().join(""));
});

test.concurrent("output is not held back until the child ends", async () => {
  const driver = startDriver({ command: trainer() });
  await driver.said("ready");
  expect(driver.process.exitCode).toBeNull();
  driver.kill("SIGTERM");
  await driver.ended;
});

const printEnvironment = [
  process.execPath,
  "-e",
  `console.log(JSON.stringify([process.argv.slice(1), Object.fromEntries(Object.entries(process.env).filter(([k]) => /^OUTLAST_(?!NO_SKIP|SOAK)/.test(k)))]))`,
  "--",
];

test.concurrent("the child learns where to resume", async () => {
  const driver = startDriver({
    command: [...printEnvironment, "--from={resume}", "{resume}/x", "plain"],
    session: {
      begin: { attempt: 4, resume: { step: 120, path: "/ckpt/step $& 120" }, stepMs: 2000 },
      intervalMs: 90_500,
    },
    options: { dir: "/ckpt" },
  });
  const [args, env] = JSON.parse((await driver.ended).stdout);
  expect(args).toEqual(["--from=/ckpt/step $& 120", "/ckpt/step $& 120/x", "plain"]);
  expect(env).toEqual({
    OUTLAST_RUN: "test",
    OUTLAST_ATTEMPT: "4",
    OUTLAST_CHECKPOINT_DIR: "/ckpt",
    OUTLAST_RESUME_STEP: "120",
    OUTLAST_RESUME_PATH: "/ckpt/step $& 120",
    OUTLAST_SOCKET: expect.stringMatching(/^\/.*\/outlast-\w+\/s$/),
    OUTLAST_SAVE_INTERVAL_SECONDS: "90.5",
    OUTLAST_SAVE_INTERVAL_STEPS: "45",
  });
});

test.concurrent("with nothing restored the child learns nothing of it, whatever an outer run had set", async () => {
  const driver = startDriver({
    command: [...printEnvironment, "--resume={resume}", "plain"],
    options: {
      dir: "/ckpt",
      env: { PATH: process.env["PATH"], OUTLAST_RESUME_STEP: "9", OUTLAST_RESUME_PATH: "/old" },
    },
  });
  const [args, env] = JSON.parse((await driver.ended).stdout);
  expect(args).toEqual(["plain"]);
  expect(Object.keys(env).sort()).toEqual([
    "OUTLAST_ATTEMPT",
    "OUTLAST_CHECKPOINT_DIR",
    "OUTLAST_RUN",
    "OUTLAST_SOCKET",
  ]);
});
