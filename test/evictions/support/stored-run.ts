import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashHex } from "../../../src/checkpoint/hash.ts";
import { encodeRecord, type LogRecord, recordKey } from "../../../src/checkpoint/log/record.ts";
import type { CommitState, LogState } from "../../../src/checkpoint/log/state.ts";
import type { Manifest } from "../../../src/checkpoint/manifest.ts";
import { seal, unseal } from "../../../src/checkpoint/sealed-json.ts";
import type { Scene } from "./scene.ts";
import type { Start } from "./start.ts";
import { readStoreLog } from "./store-log.ts";
import { readTrainerLog, type TrainerOptions, trainerCommand } from "./trainer.ts";

export const run = "stored";
const trainer: Omit<TrainerOptions, "dir" | "log" | "result"> = {
  format: "marker",
  steps: 1e9,
  every: 20,
  paceMs: 0,
  saveMs: 0,
  seed: 9,
};

/** A trainer's own directory, log and command in a scene. */
export interface Training {
  readonly dir: string;
  readonly log: string;
  readonly command: readonly string[];
}

/** A program that goes on from what it finds; with `steps` given it ends there. */
export function training(scene: Scene, change: Partial<TrainerOptions> = {}, dir: string = scene.dir()): Training {
  const log = `${dir}.log`;
  return { dir, log, command: trainerCommand({ ...trainer, dir, log, result: `${dir}.result`, ...change }) };
}

/** Fills the scene's store with a run of `commits` checkpoints, made by real starts; each holds steps of its own. */
export async function storeRun(scene: Scene, commits: number): Promise<void> {
  const dir = scene.dir("origin");
  for (let n = 1; n <= commits; n += 1) {
    // Ends by itself with a failure, so that what it saved is shipped but the run is not finished.
    const { command } = training(scene, { steps: 20 * n }, dir);
    const start = scene.run(run, dir, ["sh", "-c", '"$0" "$@"; exit 9', ...command], ["--keep", "9"]);
    const code = await start.code();
    if (code !== 9) throw new Error(`storing the run failed with ${code}:\n${start.output}`);
  }
  const stored = headOf(scene.store).state.commits.length;
  if (stored !== commits) throw new Error(`${stored} commits where ${commits} were wanted`);
}

/** Copies a store, to be harmed. */
export function copyStore(from: Scene, to: Scene): void {
  cpSync(from.store, to.store, { recursive: true });
}

/** The newest record. */
export function headOf(store: string): LogRecord {
  const head = readStoreLog(store, run).at(-1);
  if (!head) throw new Error("the log is empty");
  return head;
}

export function readManifest(store: string, commit: CommitState): Manifest {
  const opened = unseal(readFileSync(join(store, run, commit.manifests[0]?.key ?? "")));
  if ("fault" in opened) throw new Error(opened.fault);
  return opened.content as Manifest;
}

/** Replaces the newest commit's manifest by a forged one, and forges the log so that its hash is right. */
export function forgeManifest(store: string, change: (manifest: Manifest) => Manifest): void {
  const head = headOf(store);
  const commit = head.state.commits.at(-1);
  if (!commit) throw new Error("there is no commit");
  const bytes = seal(change(readManifest(store, commit)));
  writeFileSync(join(store, run, commit.manifests[0]?.key ?? ""), bytes);
  const hash = hashHex(head.state.hash, bytes);
  const forged: CommitState = { ...commit, manifests: commit.manifests.map((ref) => ({ ...ref, hash })) };
  const state: LogState = { ...head.state, commits: [...head.state.commits.slice(0, -1), forged] };
  writeFileSync(join(store, run, recordKey(head.n)), encodeRecord({ ...head, state }));
}

/** The step and state that the program was started on; undefined when it was not started. */
export function resumedFrom(log: string): { readonly step: number; readonly hash: string } | undefined {
  const start = readTrainerLog(log).find(({ event }) => event === "start");
  return start && { step: start.step, hash: start.hash ?? "" };
}

/** Starts the stored run on a fresh machine with a program that ends by itself soon. */
export async function startAfresh(
  scene: Scene,
  steps = 400,
): Promise<{ code: number | null; start: Start; log: string; dir: string }> {
  const { dir, log, command } = training(scene, { steps });
  const start = scene.run(run, dir, command);
  return { code: await start.code(), start, log, dir };
}
