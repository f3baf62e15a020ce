import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { openRun, readCommitHistory } from "../../src/checkpoint/index.ts";
import { recordTime } from "../../src/checkpoint/log/record-time.ts";
import { systemClock } from "../../src/core/index.ts";
import { openStore } from "../../src/storage/index.ts";
import { isAlive, until } from "../evictions/support/processes.ts";
import type { Scene } from "../evictions/support/scene.ts";
import { test } from "../evictions/support/scene-test.ts";
import type { Start } from "../evictions/support/start.ts";
import { trainerCommand } from "../evictions/support/trainer.ts";
import { type RunningService, services } from "./support/buckets.ts";
import { runOn } from "./support/remote-run.ts";

const limitMs = 15_000;

describe.each(services)("two supervisors on one run in $name", (service) => {
  describe.skipIf(!service.isThere)("", () => {
    let running: RunningService;

    beforeAll(async () => {
      running = await service.start();
      Object.assign(process.env, running.env);
    });

    afterAll(() => running?.stop());

    async function begin(scene: Scene, run: string, every: number): Promise<Start> {
      const dir = scene.dir();
      const trainer = { format: "marker", steps: 1e9, every, paceMs: 10, saveMs: 1, seed: 1 };
      const [log, result] = [join(scene.root, "trainer.log"), join(scene.root, "result")];
      const command = trainerCommand({ ...trainer, dir, log, result });
      const start = runOn(scene, running.storeAt(running.url), { run, dir, command, env: running.env });
      await start.says('"message":"started"', 30_000);
      return start;
    }

    // One that saves all the time is refused its next commit; one that does not has to look by itself.
    test.for([
      { run: "busy", every: 50 },
      { run: "quiet", every: 1e9 },
    ])(
      "the later commits; the earlier exits 77 within 15 s and says why ($run)",
      {
        timeout: 120_000,
        concurrent: true,
      },
      async ({ run, every }, { scene }) => {
        const first = await begin(scene, run, every);
        if (run === "busy") await first.says("checkpoint committed");
        const second = await begin(scene, run, 50);
        await until("the earlier start to end", () => first.hasEnded, 2 * limitMs);
        const endedAt = Date.now();
        expect(await first.code(), first.output).toBe(77);
        const told = first.lines.filter((line) => line.severity === "WARNING" && line.message.includes("took over"));
        expect(told, first.output).not.toEqual([]);
        expect(first.program !== undefined && isAlive(first.program)).toBe(false);

        await second.says("checkpoint committed");
        second.kill("SIGTERM");
        expect(await second.code(), second.output).toBe(75);
        const stored = openRun(await openStore(running.storeAt(running.url), { access: "read" }), run);
        const { commits } = await readCommitHistory(stored, { clock: systemClock });
        const later = commits.at(-1)?.epoch ?? 0;
        // Nothing of the earlier start stands after the record of the later one, whose position is its number.
        expect(commits.filter(({ epoch, position }) => epoch !== later && position > later)).toEqual([]);
        const tookMs = endedAt - (await recordTime(stored, later));
        process.stderr.write(`${service.name}, ${run}: out ${tookMs} ms after the later start took over\n`);
        expect(tookMs, first.output).toBeLessThan(limitMs);
      },
    );
  });
});
