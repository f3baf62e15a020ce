import { expect, test } from "vitest";
import { decideVerdict, type VerdictFacts } from "./verdict.ts";

const ended = (code: number | null, signal: NodeJS.Signals | null = null) => ({ code, signal });

const rows: readonly (readonly [string, Partial<VerdictFacts>, string, number])[] = [
  ["a recorded success", { child: ended(0), completion: "all-done" }, "finished", 0],
  ["a success that could not be recorded", { child: ended(0) }, "failed", 1],
  ["its own failure", { child: ended(3) }, "failed", 3],
  ["a foreign signal", { child: ended(null, "SIGSEGV") }, "failed", 139],
  ["0 after a notice", { cause: "eviction", child: ended(0) }, "evicted", 75],
  [
    "0 after a notice never counts, recorded or not",
    { cause: "eviction", child: ended(0), completion: "all-done" },
    "evicted",
    75,
  ],
  ["1 after a notice", { cause: "eviction", child: ended(1) }, "evicted", 75],
  [
    "finished and recorded after a notice",
    { cause: "eviction", child: ended(143), saidFinished: true, completion: "all-done" },
    "finished",
    0,
  ],
  ["finished but not recorded in time", { cause: "eviction", child: ended(0), saidFinished: true }, "evicted", 75],
  ["Ctrl-C", { cause: "interrupt", child: ended(null, "SIGINT") }, "interrupted", 130],
  ["overtaken", { cause: "superseded", child: ended(0), saidFinished: true, completion: "all-done" }, "superseded", 77],
  ["gang ended", { cause: "gang-ended", child: ended(0) }, "gang-ended", 75],
  ["never started", { cause: "eviction", child: undefined }, "evicted", 75],
  ["another code for evictions", { cause: "eviction", child: ended(0), exitOnEviction: 0 }, "evicted", 0],
  ["another code leaves 77 alone", { cause: "superseded", child: ended(0), exitOnEviction: 0 }, "superseded", 77],
];

test.each(rows)("%s", (_, facts, verdict, exitCode) => {
  const all = { cause: undefined, child: undefined, saidFinished: false, completion: undefined, exitOnEviction: 75 };
  expect(decideVerdict({ ...all, ...facts })).toEqual({ verdict, exitCode });
});
