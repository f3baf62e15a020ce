import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Capacity, followPolicy, greedy, uniformProgress } from "../../src/plan/index.ts";

interface Window {
  readonly trace: string;
  readonly start_tick: number;
  readonly end_tick: number;
  readonly gap_s: number;
  readonly work_h: number;
  readonly deadline_h: number;
  readonly changeover_h: number;
  readonly price_on_demand: number;
  readonly price_spot: number;
  readonly uniform_progress: { readonly cost: number; readonly spot_ticks: number; readonly on_demand_ticks: number };
  readonly greedy: { readonly cost: number; readonly spot_ticks: number; readonly on_demand_ticks: number };
}

const hour = 3600;
const job = { work: 4 * hour, deadline: 6 * hour, changeover: 600, tick: 600 };

describe("deadline policies", () => {
  it("uses Spot alone while Spot is there", () => {
    for (const policy of [greedy, uniformProgress]) {
      const outcome = followPolicy(
        job,
        Array.from({ length: 36 }, () => true),
        policy,
      );
      expect(outcome.onDemandTicks).toBe(0);
      // One changeover is one tick of these.
      expect(outcome.spotTicks).toBe(25);
    }
  });

  it("meets the deadline whatever Spot does", () => {
    let state = 7;
    const random = () => {
      state = (state * 48271) % 2147483647;
      return state / 2147483647;
    };
    for (let round = 0; round < 300; round += 1) {
      let isThere = random() < 0.5;
      const flips = random() * 0.6;
      const available = Array.from({ length: 36 }, () => {
        if (random() < flips) isThere = !isThere;
        return isThere;
      });
      for (const policy of [greedy, uniformProgress]) {
        const outcome = followPolicy(job, available, policy);
        expect(outcome.finishedAt).toBeLessThanOrEqual(job.deadline);
      }
    }
  });

  it("never asks for Spot where there is none", () => {
    for (const policy of [greedy, uniformProgress]) {
      for (const last of ["none", "spot", "on-demand"] as readonly Capacity[]) {
        for (let now = 0; now < job.deadline; now += job.tick) {
          for (const done of [0, 0.3 * now, now, job.work - 1]) {
            const choice = policy(job, { now, done, last, changeoverLeft: 0, hasSpot: false });
            expect(choice).not.toBe("spot");
          }
        }
      }
    }
  });
});

// The traces state no licence, so they are not in the repository: https://github.com/skypilot-org/spot-traces at 221da1ab9bdf.
const traces = process.env["OUTLAST_SPOT_TRACES"] ?? "";
if (existsSync(join(traces, "availability"))) {
  const windows = JSON.parse(
    readFileSync(new URL("../fixtures/plan/uniform-progress-oracle.json", import.meta.url), "utf8"),
  ) as readonly Window[];
  it("costs to the cent what the reference simulator says, in 144 windows and by 2 policies", () => {
    let compared = 0;
    for (const window of windows) {
      const file = join(traces, "availability/1-node/aws-10-26-2022", `${window.trace}.json`);
      const { data } = JSON.parse(readFileSync(file, "utf8")) as { data: readonly number[] };
      const available = data.slice(window.start_tick, window.end_tick).map((count) => count > 0);
      const seconds = {
        work: window.work_h * hour,
        deadline: window.deadline_h * hour,
        changeover: window.changeover_h * hour,
        tick: window.gap_s,
      };
      for (const [policy, expected] of [
        [uniformProgress, window.uniform_progress],
        [greedy, window.greedy],
      ] as const) {
        const { spotTicks, onDemandTicks } = followPolicy(seconds, available, policy);
        const cost = ((spotTicks * window.price_spot + onDemandTicks * window.price_on_demand) * window.gap_s) / hour;
        expect({ spotTicks, onDemandTicks }).toEqual({
          spotTicks: expected.spot_ticks,
          onDemandTicks: expected.on_demand_ticks,
        });
        expect(cost).toBeCloseTo(expected.cost, 2);
        compared += 1;
      }
    }
    expect(compared).toBe(288);
  });
} else {
  process.stderr.write("not run: 288 costs of deadline policies: set OUTLAST_SPOT_TRACES to a copy of spot-traces\n");
}
