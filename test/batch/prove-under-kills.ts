import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { expectCalmEnd, type Job } from "./job.ts";
import { KillCampaign } from "./kill-campaign.ts";

/** How much of it. */
export interface ProofOptions {
  readonly items: number;
  readonly kills: number;
  readonly workers: number;
  readonly longestMs: number;
  readonly seed: number;
}

/** What came of it, in words. */
export type Report = string;

/** Works a job off under kills and checks everything that must hold meanwhile and afterwards. */
export async function proveUnderKills(job: Job, options: ProofOptions): Promise<Report> {
  const { items, kills } = options;
  const began = performance.now();
  await job.publish(items);
  const over = new AbortController();
  const watching = watchResults(job, over.signal);
  const campaign = new KillCampaign({ job, ...options });
  const lives = await campaign.run().finally(() => over.abort());
  const seen = await watching;

  for (const { end, ended } of lives) if (end !== "SIGKILL") expectCalmEnd(ended);
  expect(campaign.kills).toBe(kills);
  const audit = await job.audit();
  expect(audit).toMatchObject({ ok: true, published: items, done: items, dead: 0, missing: [], duplicates: [] });
  expect(await job.layout.failures()).toBe(0);

  const results = await job.results();
  expect(results.size).toBe(items);
  expect([...results].filter(([id, { of }]) => of !== `result of ${id}`)).toEqual([]);
  expect([...seen].filter(([id, by]) => results.get(id)?.by !== by)).toEqual([]);

  const executions = await job.executions();
  // No execution was ever told that an earlier one had failed.
  expect(executions.filter(({ attempt }) => attempt !== 1)).toEqual([]);
  expect(new Set(executions.map(({ id }) => id)).size).toBe(items);
  const signed = new Set(executions.map(({ id, by }) => `${id} ${by}`));
  expect([...results].filter(([id, { by }]) => !signed.has(`${id} ${by}`))).toEqual([]);
  // A second execution is the price of a kill: at most the chunk in the victim's hands.
  const again = executions.length - items;
  expect(again).toBeLessThanOrEqual(kills * 10 + audit.late);

  const killed = lives.filter(({ end }) => end === "SIGKILL").length;
  const seconds = Math.round((performance.now() - began) / 1000);
  return `${items} items, ${killed} SIGKILL and ${kills - killed} SIGTERM in ${seconds} s; ${again} ran again, ${audit.late} late`;
}

/** Looks at what is stored while workers die: a result that stands must never change. Gives back whose results were seen. */
async function watchResults(job: Job, signal: AbortSignal): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  while (!signal.aborted) {
    for (const [id, { by }] of await job.results()) {
      if ((seen.get(id) ?? by) !== by)
        throw new Error(`the result of ${id} was changed from ${seen.get(id)}'s to ${by}'s`);
      seen.set(id, by);
    }
    // The next look, or the end.
    await sleep(5000, undefined, { signal }).catch(() => undefined);
  }
  return seen;
}
