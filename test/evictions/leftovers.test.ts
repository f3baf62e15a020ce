import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { readNote, writeNote } from "../../src/checkpoint/local/note.ts";
import { isAlive, kill, until } from "./support/processes.ts";
import type { Scene } from "./support/scene.ts";
import { test } from "./support/scene-test.ts";
import type { Start } from "./support/start.ts";
import { training } from "./support/stored-run.ts";
import { readTrainerLog } from "./support/trainer.ts";

const launcher = (command: readonly string[]) => ["sh", "-c", '"$0" "$@" & wait $!', ...command];

describe.concurrent("a program that saves when it is told to stop, and exits 0 in the middle of its work", () => {
  const evictTwice = async (scene: Scene, format: string) => {
    const reached: number[] = [];
    const resumed: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      // Each time on a fresh machine, so that only what is stored counts.
      const { dir, log, command } = training(scene, { format, every: 1_000_000, paceMs: 5, saveOnTerm: true });
      const start = scene.run("r", dir, command);
      await until(
        "the trainer to take steps",
        () => readTrainerLog(log).filter(({ event }) => event === "step").length > 20,
      );
      start.kill("SIGTERM");
      expect(await start.code(), start.output).toBe(75);
      resumed.push(starts(log)[0]?.step ?? -1);
      reached.push(readTrainerLog(log).at(-1)?.step ?? -1);
    }
    expect(resumed).toEqual([0, ...reached.slice(0, 2)]);
  };

  test("loses nothing when it replaces its file", ({ scene }) => evictTwice(scene, "replaced"));

  // KNOWN FAULT, kept as a failing test: what is written over a file that was there before the notice is not believed, although nobody had it open
  // at the notice; so the save of this most popular of handlers is lost from the second attempt on. Remove `.fails` when that is put right.
  test("loses nothing when it writes over its file", ({ scene }) => evictTwice(scene, "in-place"));
});

describe.concurrent("what a killed start leaves behind on its machine", () => {
  test("a program whose supervisor and launcher are gone is ended before another writes there", async ({ scene }) => {
    const { dir, log, command } = training(scene, { paceMs: 10 });
    const first = scene.run("r", dir, launcher(command));
    const pid = await trainerPid(log);
    first.killAll();
    await first.ended;
    expect(isAlive(pid)).toBe(true);
    await endsItFirst(scene, dir, log, command, pid);
  });

  test("a program that was started but never written down is found too", async ({ scene }) => {
    const { dir, log, command } = training(scene, { paceMs: 10 });
    const first = scene.run("r", dir, command);
    const pid = await trainerPid(log);
    first.kill("SIGKILL");
    await first.ended;
    // As if it had been killed between starting the program and writing the note.
    const path = join(dir, ".outlast/note.json");
    const note = await readNote(path);
    if (note) await writeNote(path, { ...note, child: undefined });
    await endsItFirst(scene, dir, log, command, pid);
  });

  test("another run's program in another directory is left alone", async ({ scene }) => {
    const other = training(scene, { paceMs: 10 });
    const running = scene.run("other", other.dir, other.command);
    const pid = await trainerPid(other.log);
    const { dir, log, command } = training(scene, { paceMs: 10, steps: 5 });
    const mine = scene.run("r", dir, command);
    expect(await mine.code(), mine.output).toBe(0);
    expect(readTrainerLog(log).at(-1)?.event).toBe("end");
    expect([isAlive(pid), running.hasEnded]).toEqual([true, false]);
  });

  test("a first save cut short by the kill is not taken for the beginning of the run", async ({ scene }) => {
    const { dir, log, command } = training(scene, { format: "directory", every: 5, paceMs: 1, saveMs: 3000, steps: 8 });
    const first = scene.run("r", dir, command);
    await until("the first file of the save", () => sizeOf(join(dir, "weights.dat")) > 0);
    first.killAll();
    await first.ended;
    const { command: quick } = training(scene, { format: "directory", every: 5, steps: 8 }, dir);
    const second = scene.run("r", dir, quick);
    expect(await second.code(), second.output).toBe(0);
    expect(starts(log).map(({ step }) => step)).toEqual([0, 0]);
    expect(second.output).toContain("moved to");
  });

  test("what lies there before the very first start is where the run begins", async ({ scene }) => {
    const { dir, log, command } = training(scene, { format: "directory", every: 5, steps: 5 });
    const alone = scene.run("elsewhere", dir, command);
    expect(await alone.code(), alone.output).toBe(0);
    rmSync(join(dir, ".outlast"), { recursive: true });
    const { command: longer } = training(scene, { format: "directory", every: 5, steps: 8 }, dir);
    // Twice: a start that is killed at once must not make the next one forget it.
    const first = scene.run("r", dir, longer);
    await first.says('"message":"started"');
    first.killAll();
    await first.ended;
    const second = scene.run("r", dir, longer);
    expect(await second.code(), second.output).toBe(0);
    expect(starts(log).at(-1)?.step).toBe(5);
  });
});

function starts(log: string) {
  return readTrainerLog(log).filter(({ event }) => event === "start");
}

async function trainerPid(log: string): Promise<number> {
  await until("the trainer to take steps", () => readTrainerLog(log).some(({ event }) => event === "step"));
  return starts(log)[0]?.pid ?? 0;
}

async function endsItFirst(
  scene: Scene,
  dir: string,
  log: string,
  command: readonly string[],
  pid: number,
): Promise<void> {
  const second: Start = scene.run("r", dir, command);
  await second.says('"message":"started"');
  expect(isAlive(pid)).toBe(false);
  expect(second.output).toContain("was still running");
  const started = Date.parse(second.lines.find(({ message }) => message === "started")?.time ?? "");
  expect(
    Math.max(
      ...readTrainerLog(log)
        .filter((event) => event.pid === pid)
        .map(({ at }) => at),
    ),
  ).toBeLessThanOrEqual(started);
  kill(second.pid, "SIGTERM");
  expect(await second.code(), second.output).toBe(75);
}

function sizeOf(path: string): number {
  try {
    return readFileSync(path).length;
  } catch {
    // Not there yet.
    return 0;
  }
}
