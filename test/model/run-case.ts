import { expect } from "vitest";
import { explore } from "./explore.ts";
import type { Case } from "./scenarios.ts";
import { wander } from "./wander.ts";

const isSoak = Boolean(process.env["OUTLAST_SOAK"]);

/** Limits of a case: a small one must be searched to its end, a large one is cut off after a while. */
const smallMs = 25_000;
const largeMs = isSoak ? 150_000 : 700;

/** How long a test of one case may take. */
export const caseTimeoutMs = (isSoak ? 2 * largeMs : smallMs) + 20_000;

/** Searches a case and says how far that went. */
export async function runCase({ name, isSmall, lostReplies = 0, make }: Case): Promise<void> {
  const scenario = await make();
  const ms = isSmall ? Math.max(smallMs, largeMs) : largeMs;
  const explored = await explore(() => scenario, { states: 20_000_000, ms, lostReplies });
  const { states, schedules, deepest, complete } = explored;
  process.stderr.write(
    `model: ${name}: ${states} states, ${schedules} schedules, up to ${deepest} calls, ${complete ? "complete" : "cut off"}\n`,
  );
  // A search that is cut off has tried only what can happen last in every order; chance reaches the rest.
  if (!complete) {
    const walked = await wander(() => scenario, {
      seed: Number(process.env["OUTLAST_SEED"] ?? 1),
      ms: largeMs,
      lostReplies,
    });
    process.stderr.write(`model: ${name}: and ${walked} random schedules\n`);
  }
  expect(states).toBeGreaterThan(20);
  if (isSmall) expect(complete).toBe(true);
}
