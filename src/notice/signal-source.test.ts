import { describe, expect, test } from "vitest";
import { createSignalSource, type StopRequestSignal } from "./signal-source.ts";
import type { Notice } from "./types.ts";

function setUp(options: { isTerminal: boolean; isMainProcess?: boolean }) {
  let now = 0;
  const source = createSignalSource({ isMainProcess: false, ...options, monotonic: () => now });
  const notices: Notice[] = [];
  const abort = new AbortController();
  source.start((notice) => notices.push(notice), abort.signal);
  const send = (signal: StopRequestSignal, afterMs = 1000) => {
    now += afterMs;
    source.receive(signal);
  };
  return { source, abort, send, kinds: () => notices.map(({ kind }) => kind) };
}

describe("what a signal means", () => {
  test.each([
    ["SIGTERM", true, false, "eviction"],
    ["SIGTERM", false, true, "eviction"],
    ["SIGHUP", true, false, "eviction"],
    ["SIGINT", true, false, "interrupt"],
    ["SIGINT", true, true, "interrupt"],
    ["SIGINT", false, false, "interrupt"],
    ["SIGINT", false, true, "eviction"],
    ["SIGQUIT", true, false, "interrupt"],
    ["SIGQUIT", false, false, "eviction"],
    ["SIGQUIT", false, true, "eviction"],
  ] as const)("%s with terminal %s, main process %s: %s", (signal, isTerminal, isMainProcess, kind) => {
    const { source, send, kinds } = setUp({ isTerminal, isMainProcess });
    send(signal);
    expect(kinds()).toEqual([kind]);
    source[Symbol.dispose]();
  });

  test("a second Ctrl-C is force, an echo is nothing", () => {
    withSource(setUp({ isTerminal: true }), ({ send, kinds }) => {
      send("SIGINT");
      send("SIGINT", 100);
      expect(kinds()).toEqual(["interrupt"]);
      send("SIGINT", 400);
      expect(kinds()).toEqual(["interrupt", "force"]);
    });
  });

  test("SIGTERM again is told again; what it changes is not this source's business", () => {
    withSource(setUp({ isTerminal: false }), ({ send, kinds }) => {
      send("SIGTERM");
      send("SIGTERM");
      expect(kinds()).toEqual(["eviction", "eviction"]);
    });
  });
});

test("a signal before the start is not lost", () => {
  const source = createSignalSource();
  source.receive("SIGTERM");
  const notices: Notice[] = [];
  source.start((notice) => notices.push(notice), new AbortController().signal);
  expect(notices).toEqual([{ source: "signal", kind: "eviction", reason: "SIGTERM" }]);
  source[Symbol.dispose]();
});

test("handlers outlive the start and go with the source", () => {
  const before = process.listenerCount("SIGTERM");
  const { source, abort, send, kinds } = setUp({ isTerminal: false });
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  abort.abort();
  send("SIGTERM");
  expect(kinds()).toEqual([]);
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  source[Symbol.dispose]();
  expect(process.listenerCount("SIGTERM")).toBe(before);
});

function withSource<T extends { readonly source: Disposable }>(setup: T, act: (setup: T) => void): void {
  try {
    act(setup);
  } finally {
    setup.source[Symbol.dispose]();
  }
}
