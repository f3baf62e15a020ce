import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyRecord } from "../log/rules.ts";
import { type CommitState, emptyState, type LogState } from "../log/state.ts";
import { planRetention } from "./plan.ts";

function commit(at: number, marks: Partial<CommitState> = {}): CommitState {
  return {
    at,
    step: at,
    gang: 1,
    epoch: 1,
    manifests: [],
    bytes: 0,
    files: 0,
    committedAt: "",
    savedAt: "",
    retired: false,
    damaged: false,
    pinned: false,
    ...marks,
  };
}

function stateOf(...commits: CommitState[]): LogState {
  return { ...emptyState("sha256"), of: 1, commits, committed: commits.length };
}

const positions = (commits: readonly CommitState[]) => commits.map((entry) => entry.at);

describe("planning retention", () => {
  it("keeps the newest and drops the rest", () => {
    const plan = planRetention(stateOf(commit(1), commit(2), commit(3), commit(4)), 3);
    expect([positions(plan.keep), positions(plan.drop)]).toEqual([[4, 3, 2], [1]]);
  });

  it.each([0, 1, 2])("keeps two good ones when told to keep %i", (keep) => {
    expect(positions(planRetention(stateOf(commit(1), commit(2), commit(3)), keep).keep)).toEqual([3, 2]);
  });

  it("drops retired and damaged ones first", () => {
    const state = stateOf(commit(1), commit(2, { retired: true }), commit(3, { damaged: true }), commit(4));
    expect(positions(planRetention(state, 3).drop)).toEqual([3, 2]);
  });

  it("keeps pinned ones, also damaged or retired", () => {
    const state = stateOf(
      commit(1, { pinned: true, damaged: true }),
      commit(2, { pinned: true, retired: true }),
      commit(3, { pinned: true }),
      commit(4),
      commit(5),
    );
    expect(planRetention(state, 2).drop).toEqual([]);
  });

  it("keeps a retired one while only one good one is there", () => {
    const state = stateOf(commit(1, { retired: true }), commit(2, { retired: true }), commit(3));
    expect(positions(planRetention(state, 2).drop)).toEqual([1]);
  });

  it("drops nothing while fewer than two are whole", () => {
    const state = stateOf(commit(1, { damaged: true }), commit(2, { damaged: true }), commit(3));
    expect(planRetention(state, 2).drop).toEqual([]);
  });

  it("does not drop a newer commit for a missing object that no start has confirmed", () => {
    // A list that lags behind (a network file system's cache) looks just like this.
    const plan = planRetention(stateOf(commit(1), commit(2), commit(3), commit(4)), 2, new Set([4]));
    expect([positions(plan.keep), positions(plan.drop)]).toEqual([[4, 3, 2], [1]]);
  });

  it("never plans a drop that the rules refuse: a suspect stays while it may be one of two good ones", () => {
    const state = stateOf(commit(1, { retired: true }), commit(2, { retired: true }), commit(3), commit(4));
    const plan = planRetention(state, 2, new Set([3]));
    expect(() => applyDrop(state, plan.drop)).not.toThrow();
    expect(positions(plan.keep)).toContain(3);
  });

  const commits = fc
    .array(fc.record({ retired: fc.boolean(), damaged: fc.boolean(), pinned: fc.boolean(), suspect: fc.boolean() }), {
      maxLength: 8,
    })
    .map((marks) => ({
      state: stateOf(...marks.map(({ suspect: _, ...rest }, index) => commit(index + 1, rest))),
      suspects: new Set(marks.flatMap(({ suspect }, index) => (suspect ? [index + 1] : []))),
    }));

  it("holds its promises whatever the log is like", () => {
    fc.assert(
      fc.property(commits, fc.integer({ min: 0, max: 6 }), ({ state, suspects }, keep) => {
        const { keep: kept, drop } = planRetention(state, keep, suspects);
        const isSound = (entry: CommitState) => !entry.damaged && !suspects.has(entry.at);
        const isGood = (entry: CommitState) => isSound(entry) && !entry.retired;
        const good = state.commits.filter(isGood).toReversed();
        expect([...positions(kept), ...positions(drop)].toSorted((a, b) => a - b)).toEqual(positions(state.commits));
        expect(drop.some((entry) => entry.pinned)).toBe(false);
        // Two good and two sound ones stay once there are two, and the newest ones asked for always do.
        expect(kept.filter(isGood).length).toBeGreaterThanOrEqual(Math.min(2, good.length));
        expect(kept.filter(isSound).length).toBeGreaterThanOrEqual(Math.min(2, state.commits.filter(isSound).length));
        for (const entry of good.slice(0, Math.max(2, keep))) expect(kept).toContain(entry);
        // Nothing that was not seen to be whole replaces what was.
        if (drop.length > 0) {
          expect(kept.filter(isSound).length).toBeGreaterThanOrEqual(2);
          expect(() => applyDrop(state, drop)).not.toThrow();
        }
        // Nothing newer than everything kept as good goes merely on suspicion.
        const oldestKept = good.slice(0, Math.max(2, keep)).at(-1);
        for (const entry of drop) {
          if (!entry.damaged && !entry.retired) expect(entry.at).toBeLessThan(oldestKept?.at ?? 0);
        }
      }),
      { numRuns: 5000 },
    );
  });

  it("never keeps more good ones than asked for, beyond two and the pinned", () => {
    fc.assert(
      fc.property(commits, fc.integer({ min: 0, max: 6 }), ({ state }, keep) => {
        const good = planRetention(state, keep).keep.filter(
          (entry) => !entry.damaged && !entry.retired && !entry.pinned,
        );
        expect(good.length).toBeLessThanOrEqual(Math.max(2, keep));
      }),
    );
  });
});

function applyDrop(state: LogState, drop: readonly CommitState[]): LogState {
  return applyRecord(state, { kind: "drop", commits: positions(drop) }, { n: 100, at: "" });
}
