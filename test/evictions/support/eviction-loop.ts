import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { descendantsOf, findProcesses, isAlive, kill, until } from "./processes.ts";
import type { Random } from "./random.ts";
import type { Scene } from "./scene.ts";
import type { Start } from "./start.ts";
import { readTrainerLog, type TrainerEvent, type TrainerOptions, trainerCommand } from "./trainer.ts";

/** How a start is ended. */
const ways = ["term", "term", "kill-supervisor", "kill-all", "term-then-kill"] as const;
export type Way = (typeof ways)[number];

/** What one eviction was, for the checks afterwards. */
export interface Eviction {
  readonly way: Way;
  /** Whether the next start is on another machine: nothing of this one's directory is left to it. */
  readonly isMoved: boolean;
  /** The supervisor's process id was gone, or its program's, from this moment on. */
  readonly at: number;
  /** When the program was started; undefined when it was not. */
  readonly programAt: number | undefined;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether it had its signal handlers and could be expected to answer. */
  readonly wasAwake: boolean;
  /** What its trainer wrote down, until it was ended. */
  readonly trainer: readonly TrainerEvent[];
  readonly output: string;
}

export interface LoopOptions {
  readonly run: string;
  /** What its files are called. @default the run's name */
  readonly name?: string;
  readonly flags?: readonly string[];
  readonly env?: Record<string, string>;
  readonly evictions: number;
  /** A program lives at most this long. */
  readonly longestMs: number;
  readonly trainer: Omit<TrainerOptions, "dir" | "log" | "result">;
  /** Puts a launcher in front of the trainer. */
  readonly launch?: (command: readonly string[]) => readonly string[];
}

/** Starts a run, evicts it again and again, and at last lets it finish. */
export class EvictionLoop {
  readonly evictions: Eviction[] = [];
  readonly log: string;
  readonly result: string;
  readonly #scene: Scene;
  readonly #random: Random;
  readonly #options: LoopOptions;
  readonly #name: string;
  readonly #dying: Promise<void>[] = [];
  #dir: string;

  constructor(scene: Scene, random: Random, options: LoopOptions) {
    this.#scene = scene;
    this.#random = random;
    this.#options = options;
    this.#name = options.name ?? options.run;
    this.#dir = scene.dir(`${this.#name}-machine-0`);
    this.log = join(scene.root, `${this.#name}.log`);
    this.result = join(scene.root, `${this.#name}.result`);
  }

  async run(): Promise<Start> {
    while (this.evictions.length < this.#options.evictions) {
      const { paceMs, saveMs } = this.#options.trainer;
      const start = this.#start(paceMs, saveMs);
      const last = this.evictions.at(-1);
      this.evictions.push(await this.#evict(start));
      if (last?.way === "kill-supervisor" && !last.isMoved) this.#requireNoOrphan(last, start);
    }
    const final = this.#start(0, 0);
    await final.ended;
    await Promise.all(this.#dying);
    return final;
  }

  #start(paceMs: number, saveMs: number): Start {
    const { trainer, run, launch = (command) => command, flags = [], env = {} } = this.#options;
    const command = trainerCommand({ ...trainer, paceMs, saveMs, dir: this.#dir, log: this.log, result: this.result });
    return this.#scene.run(run, this.#dir, launch(command), ["--log-level", "debug", ...flags], env);
  }

  async #evict(start: Start): Promise<Eviction> {
    const random = this.#random;
    const way = random.pick(ways);
    const isMoved = random.next() < 0.5;
    if (random.next() < 0.2) await sleep(random.between(0, 500));
    else {
      await until("the program to start", () => start.program !== undefined || start.hasEnded);
      await sleep(random.between(0, this.#options.longestMs));
    }
    if (start.hasEnded) throw new Error(`it ended by itself:\n${start.output}`);
    const wasAwake = start.output.includes('"message":"run"');
    const at = Date.now();
    let left: readonly number[] = [];
    if (way === "term") start.kill("SIGTERM");
    else {
      if (way === "term-then-kill") {
        start.kill("SIGTERM");
        await sleep(random.between(0, 150));
      }
      // The program may go first or last: both happen when a machine dies.
      left = descendantsOf(start.pid);
      if (way !== "kill-supervisor" && random.next() < 0.5) for (const pid of left) kill(pid, "SIGKILL");
      start.kill("SIGKILL");
      if (way !== "kill-supervisor") for (const pid of left) kill(pid, "SIGKILL");
    }
    const { code, signal } = await start.ended;
    const all = readTrainerLog(this.log);
    const attempt = start.lines.find((line) => line.message === "started");
    const eviction: Eviction = {
      way,
      isMoved,
      at,
      programAt: attempt && Date.parse(attempt.time),
      code,
      signal,
      wasAwake,
      trainer: attempt ? all.filter((event) => event.attempt === attempt["attempt"]) : [],
      output: start.output,
    };
    if (isMoved) {
      // A machine that lost its supervisor may go on for a while, elsewhere: its program must not disturb anybody.
      this.#dying.push(this.#endMachine(this.#dir, random.between(0, 600)));
      this.#dir = this.#scene.dir(`${this.#name}-machine-${this.evictions.length + 1}`);
    } else await sleep(random.between(0, 200));
    return eviction;
  }

  async #endMachine(dir: string, afterMs: number): Promise<void> {
    await sleep(afterMs);
    const left = () =>
      findProcesses((read) => read("cmdline").some((text) => text === dir || text.includes(`"${dir}"`)));
    await until("the old machine's programs to end", () => left().every((pid) => !kill(pid, "SIGKILL")));
    rmSync(dir, { recursive: true, force: true });
  }

  /** Two programs must never write to one directory. */
  #requireNoOrphan(last: Eviction, start: Start): void {
    const pid = last.trainer[0]?.pid;
    if (pid !== undefined && start.program !== undefined && isAlive(pid))
      throw new Error(`program ${pid} of an earlier start still runs beside ${start.program}:\n${start.output}`);
  }
}
