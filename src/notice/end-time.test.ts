import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FakeClock } from "../testing/index.ts";
import { parseEndTime, readAnnotation } from "./end-time.ts";
import { createEndTimeFileSource, createEndTimeSource } from "./end-time-source.ts";
import type { Notice } from "./types.ts";

const now = Date.parse("2026-11-15T12:00:00Z");

test.each([
  ["2026-11-15T18:00:00Z", "2026-11-15T18:00:00.000Z"],
  ["2026-11-15T18:00:00.5+02:00", "2026-11-15T16:00:00.500Z"],
  ["2026-11-15 18:00:00z", "2026-11-15T18:00:00.000Z"],
  ["90m", "2026-11-15T13:30:00.000Z"],
  ["1h30m", "2026-11-15T13:30:00.000Z"],
  ["30", "2026-11-15T12:00:30.000Z"],
])("reads %s", (text, expected) => {
  expect(new Date(parseEndTime(text, now)).toISOString()).toBe(expected);
});

test.each(["", "tomorrow", "2026-11-15", "2026-11-15T18:00:00", "2026-13-45T18:00:00Z", "-5m", "5 apples"])(
  "refuses %j",
  (text) => {
    expect(() => parseEndTime(text, now)).toThrow(/length of time/);
  },
);

test("finds an annotation among others", () => {
  const text = 'a.b/outlast.dev/stop-at="no"\nkubernetes.io/x="y\\nz"\noutlast.dev/stop-at="2026-11-15T18:00:00Z"\n';
  expect(readAnnotation(text, "outlast.dev/stop-at")).toBe("2026-11-15T18:00:00Z");
  expect(readAnnotation(text, "kubernetes.io/x")).toBe("y\nz");
  expect(readAnnotation(text, "absent")).toBeUndefined();
  expect(readAnnotation('k="\\x41"', "k")).toBe("\\x41");
  expect(readAnnotation("k=bare", "k")).toBe("bare");
});

test("a known end is told at once", () => {
  const notices: Notice[] = [];
  createEndTimeSource(now).start((notice) => notices.push(notice), new AbortController().signal);
  expect(notices).toEqual([expect.objectContaining({ kind: "planned-end", endsAtMs: now })]);
});

test("a file is followed: absent, written, unchanged, moved, damaged, taken back", async () => {
  const dir = await mkdtemp(join(tmpdir(), "outlast-ends-"));
  const path = join(dir, "annotations");
  const clock = new FakeClock(now);
  const abort = new AbortController();
  const seen: string[] = [];
  createEndTimeFileSource({ path, clock, everyMs: 1000 }).start(
    (notice) => seen.push(new Date(notice.endsAtMs ?? 0).toISOString()),
    abort.signal,
    (message) => seen.push(message),
  );
  const look = async () => {
    // The read is real: wait until the follower sleeps again.
    await clock.advance(1000);
    while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
  };
  while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual([]);
  await writeFile(path, 'outlast.dev/stop-at="2026-11-15T18:00:00Z"\n');
  await look();
  await look();
  await writeFile(path, 'outlast.dev/stop-at="2026-11-15T17:00:00Z"\n');
  await look();
  await writeFile(path, 'outlast.dev/stop-at="soon"\n');
  await look();
  await writeFile(path, "");
  await look();
  abort.abort();
  expect(clock.sleeping).toBe(0);
  expect(seen).toEqual([
    "2026-11-15T18:00:00.000Z",
    "2026-11-15T17:00:00.000Z",
    expect.stringContaining('"soon" is neither a time nor a length of time'),
  ]);
  await rm(dir, { recursive: true });
});
