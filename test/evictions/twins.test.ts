import { join } from "node:path";
import { describe, expect } from "vitest";
import { isAlive, kill, until } from "./support/processes.ts";
import type { Scene } from "./support/scene.ts";
import { test } from "./support/scene-test.ts";
import type { Start } from "./support/start.ts";
import { readStoreLog } from "./support/store-log.ts";
import { type TrainerOptions, trainerCommand } from "./support/trainer.ts";

/** Saves twice a second and never ends by itself. */
const endless: Omit<TrainerOptions, "dir" | "log" | "result"> = {
  format: "marker",
  steps: 1e9,
  every: 50,
  paceMs: 10,
  saveMs: 1,
  seed: 1,
};
const limitMs = 15_000;

describe.concurrent("a second supervisor on the same run", () => {
  test("on another machine: the earlier one stops its program, says so and exits 77 within 15 s", async ({ scene }) => {
    const first = await started(scene, scene.dir(), train);
    await first.says("checkpoint committed");
    const second = await started(scene, scene.dir(), train);
    await endsSuperseded(scene, first, Date.now());
    await second.says("checkpoint committed");
    await leaves(second);
    expectNoneAfterwards(scene);
  });

  test("in the same directory: the earlier one exits 77, and only one program writes there", async ({ scene }) => {
    const dir = scene.dir();
    const first = await started(scene, dir, train);
    await first.says("checkpoint committed");
    const second = await started(scene, dir, train);
    expect(isAlive(first.program ?? 0)).toBe(false);
    await endsSuperseded(scene, first, Date.now());
    await second.says("checkpoint committed");
    await leaves(second);
    expectNoneAfterwards(scene);
  });

  test("whose program saves nothing and ignores SIGTERM: still within 15 s", async ({ scene }) => {
    const stubborn = ["sh", "-c", "trap '' TERM; while :; do sleep 0.2; done"];
    const first = await started(scene, scene.dir(), () => stubborn);
    const second = await started(scene, scene.dir(), () => stubborn);
    await endsSuperseded(scene, first, Date.now());
    second.kill("SIGKILL");
  });

  test("a start that was frozen and wakes up later commits nothing and exits 77", async ({ scene }) => {
    const first = await started(scene, scene.dir(), train);
    await first.says("checkpoint committed");
    const { program = 0 } = first;
    for (const pid of [first.pid, program]) kill(pid, "SIGSTOP");
    const second = await started(scene, scene.dir(), train);
    await second.says("checkpoint committed");
    for (const pid of [program, first.pid]) kill(pid, "SIGCONT");
    await endsSuperseded(scene, first, Date.now());
    await leaves(second);
    expectNoneAfterwards(scene);
  });

  test("frozen in the middle of shipping, it commits nothing either", async ({ scene }) => {
    const first = await started(scene, scene.dir(), train);
    // At whatever point of a shipment this meets it: saves follow one another without a pause.
    await until("a shipment to begin", () => first.output.includes("checkpoint complete"));
    kill(first.pid, "SIGSTOP");
    const second = await started(scene, scene.dir(), train);
    await second.says("checkpoint committed");
    kill(first.pid, "SIGCONT");
    await endsSuperseded(scene, first, Date.now());
    await leaves(second);
    expectNoneAfterwards(scene);
  });
});

function train(scene: Scene, dir: string): readonly string[] {
  return trainerCommand({ ...endless, dir, log: join(scene.root, "trainer.log"), result: join(scene.root, "result") });
}

async function started(
  scene: Scene,
  dir: string,
  command: (scene: Scene, dir: string) => readonly string[],
): Promise<Start> {
  const start = scene.run("r", dir, command(scene, dir), ["--log-level", "debug"]);
  await start.says('"message":"started"');
  return start;
}

async function endsSuperseded(scene: Scene, first: Start, overtakenAt: number): Promise<void> {
  await until("the earlier start to end", () => first.hasEnded, limitMs + 10_000);
  expect(await first.code(), first.output).toBe(77);
  expect(Date.now() - overtakenAt).toBeLessThan(limitMs);
  const told = first.lines.filter(({ severity, message }) => severity === "WARNING" && message.includes("took over"));
  expect(told, first.output).not.toEqual([]);
  expect(first.program !== undefined && isAlive(first.program)).toBe(false);
  expect(scene.processes()).not.toContain(first.program);
}

async function leaves(start: Start): Promise<void> {
  start.kill("SIGTERM");
  expect(await start.code(), start.output).toBe(75);
}

/** No commit of an earlier start stands after the record of a later one. */
function expectNoneAfterwards(scene: Scene): void {
  let current = 0;
  for (const { n, body } of readStoreLog(scene.store, "r")) {
    if (body.kind === "epoch") current = n;
    if (body.kind === "commit") expect(body.epoch, `commit ${n}`).toBe(current);
  }
}
