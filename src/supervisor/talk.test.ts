import { connect } from "node:net";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { FakeClock } from "../testing/index.ts";
import { childEnvironment } from "./environment.ts";
import { LineReader } from "./line-reader.ts";
import { fillResume } from "./resume-template.ts";
import { SaveRequests } from "./save-requests.ts";
import { openChildSocket } from "./socket.ts";
import { type ChildMessage, parseChildMessage, type SupervisorMessage } from "./socket-messages.ts";
import { intervalInSteps, StepMeter } from "./step-meter.ts";

describe("messages of a child", () => {
  test.each([
    ['{"type":"step","step":3}', { type: "step", step: 3 }],
    ['{"type":"saved","path":"/c","step":3}', { type: "saved", path: "/c", step: 3 }],
    ['{"type":"saved","path":null}', { type: "saved", path: undefined, step: undefined }],
    ['{"type":"finished","more":1}', { type: "finished" }],
  ])("%s", (line, message) => {
    expect(parseChildMessage(line)).toEqual(message);
  });

  test.each([
    "",
    "null",
    "[]",
    "7",
    '{"type":"step"}',
    '{"type":"step","step":-1}',
    '{"type":"step","step":1.5}',
    '{"type":"step","step":"3"}',
    '{"type":"step","step":1e300}',
    '{"type":"saved","path":7}',
    '{"type":"saved","step":"x"}',
    '{"type":"hello"}',
    '{"type":7}',
  ])("%j is refused with a reason", (line) => {
    expect(parseChildMessage(line)).toEqual(expect.any(String));
  });
});

describe("lines", () => {
  test("come out whole however they were cut up", () => {
    const line = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom("a", "é", "😀", " b", '"') });
    const lines = fc.array(
      line.map((text) => text.trim()),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(lines, fc.array(fc.nat(40), { maxLength: 40 }), (sent, cuts) => {
        const got: string[] = [];
        const reader = new LineReader(
          1000,
          (line) => got.push(line),
          () => {},
        );
        const bytes = Buffer.from(sent.map((line) => `${line}\n`).join(""));
        let at = 0;
        for (const cut of cuts) {
          reader.push(bytes.subarray(at, at + cut));
          at = Math.min(bytes.length, at + cut);
        }
        reader.push(bytes.subarray(at));
        expect(got).toEqual(sent);
      }),
    );
  });

  test("that are too long are told of once, and the next one is heard", () => {
    const got: string[] = [];
    const reader = new LineReader(
      10,
      (line) => got.push(line),
      () => got.push("too long"),
    );
    for (let i = 0; i < 100; i += 1) reader.push(Buffer.from("xxxxx"));
    reader.push(Buffer.from("\nshort\n"));
    expect(got).toEqual(["too long", "short"]);
  });
});

describe("the socket", () => {
  const hello: SupervisorMessage = { type: "save", reason: "interval" };

  test("greets, hears and tells many clients; its directory is private and goes with it", async () => {
    const heard: ChildMessage[] = [];
    const socket = await openChildSocket({ onMessage: (m) => heard.push(m), onWarning: () => {}, hello: () => hello });
    expect((await stat(dirname(socket.path))).mode & 0o777).toBe(0o700);
    const clients = await Promise.all(
      [1, 2, 3].map(async (step) => {
        const client = connect(socket.path).setEncoding("utf8");
        const [greeting] = await once(client, "data");
        expect(greeting).toBe('{"type":"save","reason":"interval"}\n');
        client.write(`{"type":"step","step":${step}}\n`);
        return client;
      }),
    );
    const notices = clients.map((client) => once(client, "data"));
    socket.send({ type: "notice", reason: "x", deadline: 3 });
    for (const [text] of await Promise.all(notices)) expect(text).toBe('{"type":"notice","reason":"x","deadline":3}\n');
    for (const client of clients) client.end();
    await socket.allGone();
    expect(heard.map((message) => JSON.stringify(message)).toSorted((a, b) => a.localeCompare(b))).toEqual(
      [1, 2, 3].map((step) => `{"type":"step","step":${step}}`),
    );
    await socket.close();
    await expect(stat(dirname(socket.path))).rejects.toThrow("ENOENT");
  });

  test("drops a client that does not read", async () => {
    const warnings: string[] = [];
    const socket = await openChildSocket({
      onMessage: () => {},
      onWarning: (w) => warnings.push(w),
      hello: () => hello,
    });
    const client = connect(socket.path);
    await once(client, "connect");
    client.pause();
    while (socket.clients === 0) await new Promise((resolve) => setImmediate(resolve));
    const reason = "x".repeat(100_000);
    for (let i = 0; i < 30; i += 1) socket.send({ type: "notice", reason, deadline: 1 });
    await socket.allGone();
    expect(warnings).toEqual([expect.stringContaining("does not read")]);
    client.destroy();
    await socket.close();
  });

  test("goes to /tmp when the temporary directory's name is too long for a socket", async () => {
    const base = await mkdtemp(join(tmpdir(), "outlast-long-"));
    const long = join(base, "x".repeat(120));
    await mkdir(long);
    const socket = await openChildSocket({
      onMessage: () => {},
      onWarning: () => {},
      hello: () => hello,
      tempDir: long,
    });
    expect(socket.path.length).toBeLessThan(100);
    await socket.close();
    await rm(base, { recursive: true });
  });
});

describe("step times", () => {
  test("are a median over steps, however many lie between two messages", () => {
    const meter = new StepMeter();
    for (const [step, atMs] of [
      [10, 0],
      [11, 100],
      [21, 1100],
      [22, 9000],
      [23, 9100],
    ] as const)
      meter.add(step, atMs);
    expect(meter.seen).toEqual({ first: 10, last: 23, stepMs: 100 });
  });

  test("a step told twice or backwards does not spoil them", () => {
    const meter = new StepMeter();
    for (const [step, atMs] of [
      [1, 0],
      [1, 500],
      [2, 1000],
      [0, 1100],
      [1, 2100],
    ] as const)
      meter.add(step, atMs);
    expect(meter.seen).toEqual({ first: 1, last: 1, stepMs: 1000 });
  });

  test("give an interval in steps, at least one", () => {
    expect(intervalInSteps(90_000, 2_000)).toBe(45);
    expect(intervalInSteps(10, 2_000)).toBe(1);
    expect(intervalInSteps(90_000, undefined)).toBeUndefined();
    expect(intervalInSteps(undefined, 2_000)).toBeUndefined();
  });
});

test("a save is due once per interval, and again only after a save", async () => {
  const clock = new FakeClock();
  const saves = new SaveRequests(clock);
  expect(saves.isDue(undefined)).toBe(false);
  await clock.advance(999);
  expect(saves.isDue(1000)).toBe(false);
  await clock.advance(1);
  expect(saves.isDue(1000)).toBe(true);
  saves.asked();
  await clock.advance(5000);
  expect(saves.isDue(1000)).toBe(false);
  saves.saved();
  expect(saves.saveMs).toBe(5000);
  expect(saves.isDue(1000)).toBe(false);
  await clock.advance(1000);
  expect(saves.isDue(1000)).toBe(true);
});

test("{resume} is filled in everywhere, or its argument dropped", () => {
  const command = ["a", "--x={resume}:{resume}", "b", "{resume}"];
  expect(fillResume(command, "/p$1")).toEqual(["a", "--x=/p$1:/p$1", "b", "/p$1"]);
  expect(fillResume(command, undefined)).toEqual(["a", "b"]);
});

test("variables that do not apply are taken out of the child's environment", () => {
  const facts = {
    run: "r",
    attempt: 1,
    role: undefined,
    checkpointDir: "/c",
    resumeStep: undefined,
    resumePath: undefined,
  };
  const none = { socketPath: undefined, saveIntervalMs: undefined, saveIntervalSteps: undefined };
  const base = { HOME: "/h", OUTLAST_RESUME_STEP: "3", OUTLAST_SOCKET: "/old", OUTLAST_STORE: "kept" };
  expect(childEnvironment(base, { ...facts, ...none })).toEqual({
    HOME: "/h",
    OUTLAST_STORE: "kept",
    OUTLAST_RUN: "r",
    OUTLAST_ATTEMPT: "1",
    OUTLAST_CHECKPOINT_DIR: "/c",
  });
});
