import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Eviction, Way } from "../evictions/support/eviction-loop.ts";
import { descendantsOf, isAlive, kill, until } from "../evictions/support/processes.ts";
import type { Random } from "../evictions/support/random.ts";
import type { Scene } from "../evictions/support/scene.ts";
import type { Start } from "../evictions/support/start.ts";
import { readTrainerLog, type TrainerOptions, trainerCommand } from "../evictions/support/trainer.ts";
import type { GcsServer } from "../servers/gcs.ts";
import { FuseMount } from "../servers/gcsfuse.ts";

/** Where restores are put together: what killed ones leave there goes with the scene. */
export function stageIn(scene: Scene): Record<string, string> {
  return { TMPDIR: scene.dir("stages") };
}

/** How a start on a mounted bucket ends: as any, and by its mount dying first. */
const ways = ["term", "kill-all", "kill-supervisor", "kill-mount"] as const;

export interface FuseLoopOptions {
  readonly run: string;
  readonly evictions: number;
  readonly longestMs: number;
  readonly flags: readonly string[];
  readonly trainer: Omit<TrainerOptions, "dir" | "log" | "result">;
}

/** Starts a run whose `--dir` is a mounted bucket, ends it again and again at random moments, and at last lets it finish. */
export class FuseLoop {
  readonly evictions: (Eviction & { readonly how: (typeof ways)[number] })[] = [];
  readonly log: string;
  readonly result: string;
  readonly mount: FuseMount;
  readonly #scene: Scene;
  readonly #random: Random;
  readonly #options: FuseLoopOptions;
  #dir: string;

  private constructor(scene: Scene, mount: FuseMount, random: Random, options: FuseLoopOptions) {
    this.#scene = scene;
    this.mount = mount;
    this.#random = random;
    this.#options = options;
    this.#dir = join(mount.point, "checkpoints");
    mkdirSync(this.#dir);
    this.log = join(scene.root, `${options.run}.log`);
    this.result = join(scene.root, `${options.run}.result`);
  }

  static async open(scene: Scene, server: GcsServer, random: Random, options: FuseLoopOptions): Promise<FuseLoop> {
    const bucket = `dir-${options.run}`;
    await server.createBucket(bucket);
    const mount = await FuseMount.open({
      server,
      bucket,
      point: join(scene.root, `mount-${options.run}`),
      log: join(scene.root, `gcsfuse-${options.run}.log`),
    });
    return new FuseLoop(scene, mount, random, options);
  }

  async run(): Promise<Start> {
    while (this.evictions.length < this.#options.evictions) {
      const { paceMs, saveMs } = this.#options.trainer;
      await this.#evict(this.#start(paceMs, saveMs));
    }
    const final = this.#start(0, 0);
    await final.ended;
    return final;
  }

  #start(paceMs: number, saveMs: number): Start {
    const { trainer, run, flags } = this.#options;
    const { log, result } = this;
    const command = trainerCommand({ ...trainer, paceMs, saveMs, dir: this.#dir, log, result });
    return this.#scene.run(run, this.#dir, command, ["--log-level", "debug", ...flags], stageIn(this.#scene));
  }

  async #evict(start: Start): Promise<void> {
    const random = this.#random;
    const how = random.pick(ways);
    // Another folder of the bucket, and nothing but the store to go on from.
    const isMoved = random.next() < 0.3;
    const moment = random.next();
    if (moment < 0.2) await sleep(random.between(0, 900));
    else {
      await until("the program to start", () => start.program !== undefined || start.hasEnded, 60_000);
      // However slow the machine is, some starts live to commit.
      if (moment > 0.6) await start.says('"checkpoint committed"', 60_000);
      await sleep(random.between(0, this.#options.longestMs));
    }
    if (start.hasEnded) throw new Error(`it ended by itself:\n${start.output}`);
    const wasAwake = start.output.includes('"message":"run"');
    const at = Date.now();
    const below = descendantsOf(start.pid);
    if (how === "term") start.kill("SIGTERM");
    else {
      if (how === "kill-mount") await this.mount.kill();
      start.kill("SIGKILL");
      if (how !== "kill-supervisor") for (const pid of below) kill(pid, "SIGKILL");
    }
    const { code, signal } = await start.ended;
    if (how === "kill-mount") {
      await this.mount.unmount();
      await this.mount.mount();
    }
    const attempt = start.lines.find((line) => line.message === "started");
    const way: Way = how === "kill-mount" ? "kill-all" : how;
    this.evictions.push({
      how,
      way,
      isMoved,
      at,
      programAt: attempt && Date.parse(attempt.time),
      code,
      signal,
      wasAwake,
      trainer: attempt ? readTrainerLog(this.log).filter((event) => event.attempt === attempt["attempt"]) : [],
      output: start.output,
    });
    if (!isMoved) return;
    await until("the old folder's program to end", () => below.every((pid) => !kill(pid, "SIGKILL") || !isAlive(pid)));
    this.#dir = join(this.mount.point, `checkpoints-${this.evictions.length}`);
    mkdirSync(this.#dir);
  }
}
