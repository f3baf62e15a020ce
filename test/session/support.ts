import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Beginning,
  type CheckpointSession,
  createSession,
  createTransfer,
  type SessionEvents,
  type SessionOptions,
} from "../../src/checkpoint/index.ts";
import { type Clock, systemClock } from "../../src/core/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";

/** A fresh temporary directory. */
export function tempDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), "outlast-session-"));
}

/** The real clock, but nobody sleeps long: what a dead store makes wait would take minutes. */
const hastyClock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 2), signal) };

/** A session that never waits long and whose file work is done on this thread. */
export function sessionOn(
  store: ObjectStore,
  dir: string,
  options: Partial<SessionOptions> = {},
): CheckpointSession & { log: string[] } {
  const session = createSession({
    store,
    run: "r",
    dir,
    transfer: createTransfer({ inline: true }),
    clock: hastyClock,
    pollMs: 50,
    followMs: 100,
    ...options,
  });
  const log: string[] = [];
  const names = [
    "session:committed",
    "session:restored",
    "session:damaged",
    "session:skipped",
    "session:warning",
    "session:ended",
  ] as const;
  for (const name of names) {
    session.events.on(name, (data: SessionEvents[typeof name]) => {
      const what = "step" in data ? data.step : data.message;
      log.push(`${name.slice(8)} ${what}`);
    });
  }
  return Object.assign(session, { log });
}

/** Begins; the start must not be one of a finished run. */
export async function begin(session: CheckpointSession): Promise<Extract<Beginning, { kind: "start" }>> {
  const beginning = await session.begin();
  if (beginning.kind !== "start") throw new Error("the run is finished already");
  return beginning;
}

/** Saves as Hugging Face's Trainer does: data, then trainer_state.json. The content tells the step. */
export async function save(dir: string, step: number, text = `weights of ${step}`): Promise<void> {
  const folder = join(dir, `checkpoint-${step}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "frozen.bin"), "the same in all");
  await writeFile(join(folder, "model.bin"), text.repeat(100));
  await writeFile(join(folder, "trainer_state.json"), JSON.stringify({ global_step: step }));
}

/** The content of a saved checkpoint; undefined when it is not there. Throws if it is not whole. */
export async function load(dir: string, step: number): Promise<string | undefined> {
  const folder = join(dir, `checkpoint-${step}`);
  const names = (await readdir(folder).catch(() => [])).toSorted((a, b) => (a < b ? -1 : 1));
  if (names.length === 0) return undefined;
  if (names.join() !== "frozen.bin,model.bin,trainer_state.json") throw new Error(`${folder} holds ${names.join()}`);
  const state = JSON.parse(await readFile(join(folder, "trainer_state.json"), "utf8")) as { global_step: number };
  if (state.global_step !== step) throw new Error(`${folder} says step ${state.global_step}`);
  if ((await readFile(join(folder, "frozen.bin"), "utf8")) !== "the same in all") throw new Error("frozen.bin differs");
  const model = await readFile(join(folder, "model.bin"), "utf8");
  return model.slice(0, model.length / 100);
}

/** One start that saves some steps one after the other, each committed, and ends without saying done. */
export async function trainOn(
  store: ObjectStore,
  dir: string,
  steps: readonly number[],
  options: Partial<SessionOptions> = {},
): Promise<string[]> {
  const session = sessionOn(store, dir, options);
  try {
    await begin(session);
    for (const step of steps) {
      await save(dir, step);
      await session.finish({ writer: { state: "exited" } });
    }
  } finally {
    await session.close();
  }
  return session.log;
}

export async function remove(...dirs: readonly string[]): Promise<void> {
  for (const dir of dirs) await rm(dir, { recursive: true, force: true });
}
