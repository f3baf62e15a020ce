import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freshState, hashState, trainStep } from "../fixtures/state.ts";
import type { TrainerEvent, TrainerOptions } from "../fixtures/trainer.ts";

export type { TrainerEvent, TrainerOptions } from "../fixtures/trainer.ts";

/** The command line of the deterministic trainer. */
export function trainerCommand(options: TrainerOptions): readonly string[] {
  return [process.execPath, join(import.meta.dirname, "../fixtures/trainer.ts"), JSON.stringify(options)];
}

/** What trainers have written down; a line cut by a kill is left out. */
export function readTrainerLog(path: string): readonly TrainerEvent[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line) as TrainerEvent);
}

/** The true state at every step that some trainer resumed from. */
export function referenceStates(seed: number, events: readonly TrainerEvent[]): ReadonlyMap<number, string> {
  const wanted = new Set(events.filter(({ event }) => event === "start").map(({ step }) => step));
  const found = new Map<number, string>();
  const state = freshState(seed);
  for (const most = Math.max(0, ...wanted); ; trainStep(state)) {
    if (wanted.has(state.step)) found.set(state.step, hashState(state));
    if (state.step >= most) return found;
  }
}
