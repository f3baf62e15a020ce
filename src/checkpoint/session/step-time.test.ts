import { describe, expect, it } from "vitest";
import type { CommitState } from "../log/state.ts";
import { stepTime } from "./step-time.ts";

const commit = (gang: number, step: number, second: number) =>
  ({ gang, step, savedAt: new Date(second * 1000).toISOString() }) as CommitState;

describe("the time of a step", () => {
  it("is told by the newest two commits of one gang", () => {
    expect(stepTime([commit(1, 10, 0), commit(1, 20, 50), commit(1, 30, 70)])).toBe(2000);
  });

  it("is not told by commits with an eviction between them", () => {
    expect(stepTime([commit(1, 10, 0), commit(2, 20, 50)])).toBeUndefined();
    expect(stepTime([commit(1, 10, 0), commit(1, 20, 10), commit(2, 30, 999)])).toBe(1000);
  });

  it("is not told by an abandoned branch or by one commit", () => {
    expect(stepTime([commit(1, 20, 0), commit(1, 10, 50)])).toBeUndefined();
    expect(stepTime([commit(1, 20, 0)])).toBeUndefined();
  });
});
