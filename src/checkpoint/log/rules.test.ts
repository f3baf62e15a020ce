import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planRetention } from "../retention/plan.ts";
import type { RecordBody } from "./record.ts";
import { applyRecord, RuleBroken } from "./rules.ts";
import { type CommitState, isFinished, type LogState, restorable, standing, targetOf } from "./state.ts";

/** The state after records at positions 1, 2, 3 … */
function fold(...bodies: RecordBody[]): LogState {
  let state: LogState | undefined;
  for (const [index, body] of bodies.entries()) state = applyRecord(state, body, { n: index + 1, at: "" });
  if (!state) throw new Error("no records");
  return state;
}

const epoch = (shard = 0, of = 1): RecordBody => ({ kind: "epoch", shard, of, hash: "sha256" });
const ready = (of: number, target = 0): RecordBody => ({ kind: "ready", epoch: of, target });
const commit = (by: number, step: number, more: Partial<Extract<RecordBody, { kind: "commit" }>> = {}): RecordBody => ({
  kind: "commit",
  epoch: by,
  gang: by,
  step,
  manifests: [{ shard: 0, key: "k", hash: "h" }],
  reuses: [],
  bytes: 0,
  files: 0,
  savedAt: "",
  ...more,
});
const two = [0, 1].map((shard) => ({ shard, key: "k", hash: "h" }));
const damaged = (by: number, at: number): RecordBody => ({ kind: "damaged", epoch: by, commit: at, why: "" });

describe("the rules of the log", () => {
  it("a log begins with an epoch that fixes the hash", () => {
    expect(() => fold(ready(1))).toThrow(RuleBroken);
    expect(() => fold({ kind: "epoch", shard: 0, of: 1 })).toThrow(RuleBroken);
    expect(fold(epoch()).hash).toBe("sha256");
    expect(() => fold(epoch(1, 1))).toThrow(RuleBroken);
    expect(() => fold(epoch(0, 0))).toThrow(RuleBroken);
  });

  it("one shard's epoch is its gang, and a later one supersedes it", () => {
    const state = fold(epoch(), epoch());
    expect([state.gang, state.starts]).toEqual([2, [2]]);
    expect([standing(state, 0, 1), standing(state, 0, 2)]).toEqual(["superseded", "current"]);
  });

  it("only the epoch in charge commits, at its own position", () => {
    expect(() => fold(epoch(), epoch(), commit(1, 1))).toThrow(RuleBroken);
    expect(fold(epoch(), commit(1, 1), epoch()).commits).toHaveLength(1);
    expect(() => fold(epoch(), epoch(), commit(2, 1, { gang: 1 }))).toThrow(RuleBroken);
  });

  it("steps rise within an epoch, and may fall with the next, which retires what is not below", () => {
    expect(() => fold(epoch(), commit(1, 5), commit(1, 5))).toThrow(RuleBroken);
    expect(() => fold(epoch(), commit(1, 5), commit(1, 4))).toThrow(RuleBroken);
    const state = fold(epoch(), commit(1, 4), commit(1, 5), epoch(), commit(4, 5));
    expect(state.commits.map(({ at, retired }) => [at, retired])).toEqual([
      [2, false],
      [3, true],
      [5, false],
    ]);
    expect(restorable(state).map(({ at }) => at)).toEqual([5, 2, 3]);
    for (const step of [-1, 0.5, Number.NaN]) expect(() => fold(epoch(), commit(1, step))).toThrow(RuleBroken);
  });

  it("reuse needs a commit that is live and whole at the position before", () => {
    const before = [epoch(), commit(1, 1), commit(1, 2), commit(1, 3)];
    expect(fold(...before, commit(1, 4, { reuses: [2] })).commits).toHaveLength(4);
    expect(() => fold(...before, damaged(1, 2), commit(1, 4, { reuses: [2] }))).toThrow(RuleBroken);
    expect(() => fold(...before, { kind: "drop", commits: [2] }, commit(1, 4, { reuses: [2] }))).toThrow(RuleBroken);
    expect(() => fold(...before, commit(1, 4, { reuses: [1] }))).toThrow(RuleBroken);
  });

  it("a gang is the record that makes all shards ready on the target", () => {
    const state = fold(epoch(0, 2), ready(1), epoch(1, 2), ready(3));
    expect(state.gang).toBe(4);
    expect(() => fold(epoch(0, 2), ready(1, 7))).toThrow(RuleBroken);
    expect(() => fold(epoch(0, 2), ready(1), epoch(1, 2), ready(3), ready(3))).toThrow(RuleBroken);
  });

  it("a gang's commit needs one manifest a shard", () => {
    const gang = [epoch(0, 2), ready(1), epoch(1, 2), ready(3)];
    expect(() => fold(...gang, commit(1, 1, { gang: 4 }))).toThrow(RuleBroken);
    expect(() => fold(...gang, commit(1, 1, { gang: 4, manifests: two.toReversed() }))).toThrow(RuleBroken);
    expect(() => fold(...gang, commit(1, 1, { gang: 3, manifests: two }))).toThrow(RuleBroken);
    expect(fold(...gang, commit(1, 1, { gang: 4, manifests: two })).commits).toHaveLength(1);
  });

  it("an epoch ends the gang and every epoch in it; so does another number of shards", () => {
    const gang = [epoch(0, 2), ready(1), epoch(1, 2), ready(3)];
    const ended = fold(...gang, epoch(0, 2));
    expect([ended.gang, ended.epochs.map((entry) => entry.epoch)]).toEqual([null, [5]]);
    expect([standing(ended, 0, 1), standing(ended, 1, 3)]).toEqual(["superseded", "gang-ended"]);
    const forming = fold(epoch(0, 2), ready(1), epoch(0, 3));
    expect([forming.of, forming.epochs.map((entry) => entry.epoch)]).toEqual([3, [3]]);
  });

  it("damage moves the target for all, who have to become ready again", () => {
    const gang = [epoch(0, 2), ready(1), epoch(1, 2), ready(3)];
    const commits = [commit(1, 1, { gang: 4, manifests: two }), commit(1, 2, { gang: 4, manifests: two })];
    const state = fold(...gang, ...commits, epoch(0, 2), epoch(1, 2), ready(7, 6), damaged(8, 6));
    expect([targetOf(state)?.at, state.gang]).toEqual([5, null]);
    const formed = applyRecord(applyRecord(state, ready(7, 5), { n: 11, at: "" }), ready(8, 5), { n: 12, at: "" });
    expect(formed.gang).toBe(12);
  });

  it("a run is finished when every shard is done in one gang; only a start that says so begins anew", () => {
    const gang = [epoch(0, 2), ready(1), epoch(1, 2), ready(3)];
    const done = (by: number): RecordBody => ({ kind: "done", epoch: by, gang: 4 });
    expect(isFinished(fold(...gang, done(1), done(1)))).toBe(false);
    const finished = [...gang, done(1), done(3)];
    expect(isFinished(fold(...finished))).toBe(true);
    expect(isFinished(fold(...gang, done(1), epoch(1, 2)))).toBe(false);
    expect(() => fold(...finished, epoch(0, 2))).toThrow(RuleBroken);
    expect(isFinished(fold(...finished, { kind: "epoch", shard: 0, of: 2, again: true }))).toBe(false);
  });

  it("a drop leaves pinned ones, two good ones and two whole ones", () => {
    const three = [epoch(), commit(1, 1), commit(1, 2), commit(1, 3)];
    const drop = (...commits: number[]): RecordBody => ({ kind: "drop", commits });
    expect(fold(...three, drop(2)).commits.map(({ at }) => at)).toEqual([3, 4]);
    expect(() => fold(...three, drop(2, 3))).toThrow(RuleBroken);
    expect(() => fold(...three, drop(9))).toThrow(RuleBroken);
    expect(() => fold(...three, { kind: "pin", commit: 2, pinned: true }, drop(2))).toThrow(RuleBroken);
    expect(() => fold(...three, damaged(1, 4), drop(2))).toThrow(RuleBroken);
    expect(fold(...three, damaged(1, 4), drop(4)).commits).toHaveLength(2);
    expect(() => fold(epoch(), commit(1, 1), damaged(1, 2), drop(2))).toThrow(RuleBroken);
  });
});

/** A wish, made into a record that fits the state often enough. */
type Wish = {
  readonly kind: RecordBody["kind"] | "retention";
  readonly a: number;
  readonly b: number;
  readonly of: number;
};

function grant(state: LogState | undefined, { kind, a, b, of }: Wish): RecordBody {
  const pick = <T>(list: readonly T[]): T | undefined => list[a % Math.max(1, list.length)];
  const by = pick(state?.epochs ?? [])?.epoch ?? a;
  const at = pick(state?.commits ?? [])?.at ?? a;
  if (kind === "epoch") return { kind, shard: a % of, of, hash: "sha256", again: b % 2 === 0 };
  if (kind === "ready") return { kind, epoch: by, target: b % 5 === 0 ? b : ((state && targetOf(state)?.at) ?? 0) };
  if (kind === "damaged") return { kind, epoch: by, commit: at, why: "" };
  if (kind === "done") return { kind, epoch: by, gang: state?.gang ?? a };
  if (kind === "pin") return { kind, commit: at, pinned: b % 2 === 0 };
  if (kind === "drop") return { kind, commits: [at, pick(state?.commits.toReversed() ?? [])?.at ?? b] };
  if (kind === "retention")
    return { kind: "drop", commits: state ? planRetention(state, b % 4).drop.map((entry) => entry.at) : [] };
  const manifests = Array.from({ length: state?.of ?? 1 }, (_, shard) => ({ shard, key: "k", hash: "h" }));
  return commit(by, b % 12, { gang: state?.gang ?? a, manifests, reuses: b % 3 === 0 ? [at] : [] });
}

const wishes: fc.Arbitrary<Wish[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Wish["kind"][]>(
      "epoch",
      "ready",
      "ready",
      "damaged",
      "commit",
      "commit",
      "commit",
      "done",
      "pin",
      "drop",
      "retention",
    ),
    a: fc.nat(20),
    b: fc.nat(20),
    of: fc.constantFrom(1, 1, 2),
  }),
  { maxLength: 60, size: "max" },
);

const isWhole = (entry: CommitState) => !entry.damaged;
const isGood = (entry: CommitState) => !entry.damaged && !entry.retired;

describe("any log that the rules allow", () => {
  it("keeps its promises at every position", () => {
    let accepted = 0;
    fc.assert(
      fc.property(wishes, (list) => {
        let state: LogState | undefined;
        let n = 0;
        for (const wish of list) {
          const body = grant(state, wish);
          let next: LogState;
          try {
            next = applyRecord(state && freeze(state), body, { n: n + 1, at: "" });
          } catch (error) {
            expect(error).toBeInstanceOf(RuleBroken);
            // What retention plans is never refused, except when it plans nothing.
            if (wish.kind === "retention" && body.kind === "drop" && body.commits.length > 0) throw error;
            continue;
          }
          n += 1;
          accepted += 1;
          check(state, body, next, n);
          state = next;
        }
      }),
      { numRuns: 600 },
    );
    expect(accepted).toBeGreaterThan(1000);
  });
});

function check(before: LogState | undefined, body: RecordBody, after: LogState, n: number): void {
  const shards = after.epochs.map((entry) => entry.shard);
  expect(shards).toEqual([...new Set(shards)].toSorted((a, b) => a - b));
  expect(after.epochs.every((entry) => entry.epoch <= n && entry.shard < after.of)).toBe(true);
  if (after.gang !== null) expect(after.epochs).toHaveLength(after.of);
  // Unretired steps rise with their positions: the newest is the furthest of its branch.
  const steps = after.commits.filter((entry) => !entry.retired).map((entry) => entry.step);
  expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
  if (body.kind === "commit") {
    expect(before?.epochs.some((entry) => entry.epoch === body.epoch) && before.gang === body.gang).toBe(true);
    expect(targetOf(after)?.at).toBe(n);
  } else if (body.kind !== "drop") {
    expect(after.commits.map((entry) => entry.at)).toEqual(before?.commits.map((entry) => entry.at) ?? []);
  }
  if (body.kind === "drop" && before && body.commits.length > 0) {
    const left = (is: (entry: CommitState) => boolean) => after.commits.filter(is).length;
    expect(left(isWhole)).toBeGreaterThanOrEqual(Math.min(2, before.commits.filter(isWhole).length));
    expect(left(isGood)).toBeGreaterThanOrEqual(Math.min(2, before.commits.filter(isGood).length));
    expect(left((entry) => entry.pinned)).toBe(before.commits.filter((entry) => entry.pinned).length);
    expect(left(isWhole)).toBeGreaterThan(0);
  }
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  }
  return value;
}
