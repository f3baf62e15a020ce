import { createHash } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import { type Clock, exitCodes, OutlastError } from "../../core/index.ts";
import { startAttempt, type TrainerLine } from "./attempt.ts";
import { checkpointPath, weights } from "./checkpoint-file.ts";

/** How an attempt is ended early. */
export type EvictionKind = "notice" | "vanish";

/** When to evict, and how. */
export interface PlannedEviction {
  readonly kind: EvictionKind;
  readonly atStep: number;
}

/** What an eviction cost. */
export interface EvictionCost {
  readonly kind: EvictionKind;
  readonly atStep: number;
  readonly resumedAt: number;
  readonly redone: number;
  /** From the eviction until the step it had reached was reached again. */
  readonly lostMs: number;
}

export interface StoryOptions {
  /** An empty directory for everything. */
  readonly dir: string;
  readonly steps: number;
  readonly saveEvery: number;
  /** Pause after each supervised step, so that there is something to interrupt. */
  readonly paceMs: number;
  readonly evictions: readonly PlannedEviction[];
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly onEvent: (event: StoryEvent) => void;
}

export type StoryEvent =
  | { readonly kind: "reference"; readonly hash: string; readonly loss: number }
  | { readonly kind: "attempt"; readonly number: number; readonly resumedAt: number }
  | { readonly kind: "step"; readonly step: number; readonly loss: number }
  | { readonly kind: "evicted"; readonly how: EvictionKind; readonly atStep: number }
  | { readonly kind: "finished"; readonly hash: string };

export interface StoryResult {
  readonly reference: string;
  readonly survivor: string;
  readonly evictions: readonly EvictionCost[];
}

const here = import.meta.dirname;
const extension = extname(import.meta.filename);

/** Trains once undisturbed and once under `outlast run` with evictions, and compares the last checkpoints. */
export async function playStory(options: StoryOptions): Promise<StoryResult> {
  const reference = await trainUndisturbed(options);
  const store = join(options.dir, "store");
  const local = join(options.dir, "checkpoints");
  const pending = [...options.evictions];
  const costs: EvictionCost[] = [];
  // An eviction whose cost is not known yet: until a later attempt is back where it was.
  let open: { kind: EvictionKind; atStep: number; at: number; resumedAt: number | undefined } | undefined;

  for (let number = 1; ; number += 1) {
    const planned = pending[0];
    let evicted = false;
    // What a new machine has: an empty directory.
    await mkdir(local, { recursive: true });
    const attempt = startAttempt(supervised(options, store, local), options.env, (line: TrainerLine, self) => {
      if ("pid" in line) {
        options.onEvent({ kind: "attempt", number, resumedAt: line.resumed });
        if (open) open.resumedAt = line.resumed;
      }
      if (!("step" in line)) return;
      if (open?.resumedAt !== undefined && line.step >= open.atStep) {
        const { kind, atStep, at, resumedAt } = open;
        costs.push({ kind, atStep, resumedAt, redone: atStep - resumedAt, lostMs: options.clock.monotonic() - at });
        open = undefined;
      }
      options.onEvent({ kind: "step", step: line.step, loss: line.loss });
      if (!planned || evicted || line.step < planned.atStep) return;
      evicted = true;
      if (planned.kind === "notice") self.notify();
      else self.vanish();
      open = { kind: planned.kind, atStep: line.step, at: options.clock.monotonic(), resumedAt: undefined };
      options.onEvent({ kind: "evicted", how: planned.kind, atStep: line.step });
    });
    const { code, log } = await attempt.ended;
    if (!evicted) {
      if (code === exitCodes.finished) break;
      throw failed(`attempt ${number} ended with code ${code} by itself:\n${log}`);
    }
    pending.shift();
    if (planned?.kind === "notice" && code !== exitCodes.evicted) {
      throw failed(
        `attempt ${number} ended with code ${code} after its notice; ${exitCodes.evicted} was expected:\n${log}`,
      );
    }
    // A machine that vanishes takes its disk along: only the store can bring anything back.
    if (planned?.kind === "vanish") await rm(local, { recursive: true, force: true });
  }
  const survivor = await hashOf(join(checkpointPath(local, options.steps), weights));
  options.onEvent({ kind: "finished", hash: survivor });
  return { reference, survivor, evictions: costs };
}

async function trainUndisturbed(options: StoryOptions): Promise<string> {
  const dir = join(options.dir, "undisturbed");
  let loss = Number.NaN;
  const attempt = startAttempt(trainer(dir, { ...options, paceMs: 0 }), options.env, (line) => {
    if ("loss" in line) loss = line.loss;
  });
  const { code, log } = await attempt.ended;
  if (code !== 0) throw failed(`the undisturbed run ended with code ${code}:\n${log}`);
  const hash = await hashOf(join(checkpointPath(dir, options.steps), weights));
  options.onEvent({ kind: "reference", hash, loss });
  return hash;
}

function supervised(options: StoryOptions, store: string, local: string): [string, ...string[]] {
  const cli = join(here, `../main${extension}`);
  const run = ["run", "--store", store, "--dir", local, "--run", "demo", "--grace", "15s", "--notice", "signal"];
  return [process.execPath, cli, ...run, "--", ...trainer(local, options), "--resume={resume}"];
}

function trainer(dir: string, { steps, saveEvery, paceMs }: StoryOptions): [string, ...string[]] {
  const flags = { dir, steps, "save-every": saveEvery, "pace-ms": paceMs };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  return [process.execPath, join(here, `trainer${extension}`), ...args];
}

async function hashOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}

function failed(message: string): OutlastError {
  return new OutlastError("OUTLAST_DEMO_FAILED", message, { hint: "please report this: the demo must always succeed" });
}
