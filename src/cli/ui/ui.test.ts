import { describe, expect, test } from "vitest";
import { createLogger } from "../../core/index.ts";
import { FakeClock } from "../../testing/index.ts";
import type { Io } from "../io.ts";
import { createProgress } from "./progress.ts";
import { styleFor } from "./style.ts";
import { formatTable } from "./table.ts";

function setUp(columns: number | undefined, enabled = true) {
  const clock = new FakeClock();
  const written: string[] = [];
  const listeners = new Set<() => void>();
  const stderr = { isTTY: columns !== undefined, columns, write: (text: string) => void written.push(text) };
  const io: Io = {
    stdout: stderr,
    stderr,
    env: {},
    cwd: "/",
    clock,
    onProgressSignal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const logger = createLogger({ write: stderr.write, format: "pretty", now: () => clock.now() });
  return { clock, written, listeners, progress: createProgress({ io, logger, enabled }) };
}

const at = (bytes: number) => ({ what: "verifying step 4", bytes, totalBytes: 1000 });

describe("progress on a terminal", () => {
  test("short work shows nothing", async () => {
    const { clock, written, progress } = setUp(80);
    progress.update(at(1));
    await clock.advance(400);
    progress.update(at(900));
    progress.done();
    expect(written).toEqual([]);
  });

  test("long work redraws one line, not too often, cut to the terminal, and takes it away", async () => {
    const { clock, written, progress } = setUp(30);
    for (let i = 0; i <= 100; i += 1) {
      progress.update(at(i * 10));
      await clock.advance(20);
    }
    progress.done();
    expect(written.length).toBeGreaterThan(5);
    expect(written.length).toBeLessThan(30);
    expect(written[0]).toBe("\rverifying step 4  25%  250 B \u001b[K");
    expect(written.at(-1)).toBe("\r\u001b[K");
  });

  test("--no-progress shows nothing, but SIGUSR1 still does", async () => {
    const { clock, written, listeners, progress } = setUp(80, false);
    progress.update(at(10));
    await clock.advance(5000);
    progress.update(at(500));
    expect(written).toEqual([]);
    for (const listener of listeners) listener();
    expect(written).toEqual(['outlast: progress  what="verifying step 4" bytes=500 totalBytes=1000 percent=50\n']);
    progress.done();
    expect(listeners.size).toBe(0);
  });
});

test("off a terminal, a line within two seconds and then one every ten", async () => {
  const { clock, written, progress } = setUp(undefined);
  for (let seconds = 0; seconds < 25; seconds += 0.5) {
    progress.update(at(seconds * 40));
    await clock.advance(500);
  }
  expect(written.map((line) => /percent=(\d+)/.exec(line)?.[1])).toEqual(["8", "48", "88"]);
});

test("tables align and leave no blanks at the ends", () => {
  const table = formatTable(
    [{ title: "STEP", align: "right" }, { title: "STATE" }],
    [
      ["5", "good"],
      ["12345", "x"],
    ],
  );
  expect(table).toBe(" STEP  STATE\n    5  good\n12345  x");
});

test("colour only on a terminal that wants it", () => {
  const terminal = { isTTY: true, columns: 80, write: () => {} };
  expect(styleFor(terminal, {})("red", "x")).not.toBe("x");
  expect(styleFor(terminal, { NO_COLOR: "1" })("red", "x")).toBe("x");
  expect(styleFor(terminal, { TERM: "dumb" })("red", "x")).toBe("x");
  expect(styleFor({ ...terminal, isTTY: false }, {})("red", "x")).toBe("x");
});
