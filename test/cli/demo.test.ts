import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { playStory } from "../../src/cli/demo/story.ts";
import { demoJson } from "../../src/cli/json/demo.ts";
import { statusJson } from "../../src/cli/json/status.ts";
import { systemClock } from "../../src/core/index.ts";
import { runOutlast } from "../support/run-outlast.ts";

const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("OUTLAST_")));

test("an evicted run ends with the same bits as an undisturbed one, and redoes no more than it must", async () => {
  const dir = await mkdtemp(join(tmpdir(), "outlast-story-"));
  try {
    const saveEvery = 30;
    const { reference, survivor, evictions } = await playStory({
      dir,
      steps: 200,
      saveEvery,
      paceMs: 20,
      evictions: [
        { kind: "notice", atStep: 40 },
        { kind: "vanish", atStep: 150 },
      ],
      env,
      clock: systemClock,
      onEvent: () => {},
    });
    expect(survivor).toBe(reference);
    expect(evictions.map(({ kind }) => kind)).toEqual(["notice", "vanish"]);
    // With a notice the program saved: at most the step under way is redone.
    expect(evictions[0]?.redone).toBeLessThanOrEqual(0);
    // Without one: back to a commit of the second attempt, not to the beginning.
    expect(evictions[1]?.resumedAt).toBeGreaterThanOrEqual(41);

    const { stdout } = await runOutlast(["status", "--store", join(dir, "store"), "--run", "demo", "--json"]);
    const status = statusJson.parse(JSON.parse(stdout));
    expect(status.attempts.map(({ end, exitCode }) => [end, exitCode])).toEqual([
      ["evicted", 75],
      ["vanished", null],
      ["finished", 0],
    ]);
    expect(status.attempts[2]?.resumedStep).toBe(evictions[1]?.resumedAt);
    const { totalMs, ...parts } = status.time;
    expect(Object.values(parts).reduce((a, b) => a + b)).toBeCloseTo(totalMs, 3);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

// Registered only then, so that a usual run skips nothing.
if (process.env["OUTLAST_SOAK"]) {
  test("outlast demo as users run it", { timeout: 120_000 }, async () => {
    const { code, stdout } = await runOutlast(["demo", "--json"], { env });
    expect(code).toBe(0);
    const result = demoJson.parse(JSON.parse(stdout));
    expect(result.equal).toBe(true);
    expect(result.evictions).toHaveLength(4);
  });
}
