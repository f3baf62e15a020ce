import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { GangOptions } from "../fixtures/gang-trainer.ts";
import { descendantsOf, findProcesses, kill } from "./processes.ts";
import type { Scene } from "./scene.ts";
import type { Start } from "./start.ts";

const program = join(import.meta.dirname, "../fixtures/gang-trainer.ts");

/** One time the shards met, as the first of them wrote it down. */
export interface MeetingLine {
  readonly called: string;
  readonly step: number;
  readonly lineage: readonly string[];
  readonly isOne: boolean;
  readonly pasts: readonly string[];
}

/** Shards of one run, each on a machine of its own, restarted as Kubernetes would. */
export class Gang {
  readonly meet: string;
  /** Exit codes of every start, by shard. */
  readonly codes: (number | string | null)[][];
  readonly outputs: string[] = [];
  readonly #scene: Scene;
  readonly #run: string;
  readonly #training: Pick<GangOptions, "of" | "every" | "paceMs">;
  readonly #starts: (Start | undefined)[] = [];
  readonly #dirs: string[];
  /** Starts that were killed outright: their codes mean nothing. */
  readonly #killed = new Set<Start>();
  readonly #last: string;
  #machines = 0;

  constructor(scene: Scene, run: string, training: Pick<GangOptions, "of" | "every" | "paceMs">) {
    this.#scene = scene;
    this.#run = run;
    this.#training = training;
    this.meet = join(scene.root, `${run}-meet`);
    mkdirSync(this.meet);
    this.#last = join(this.meet, "last");
    this.codes = Array.from({ length: training.of }, () => []);
    this.#dirs = Array.from({ length: training.of }, () => this.#machine());
  }

  /** Runs all shards until each has ended with 0; restarts after 75 and after kills, fails on any other code. */
  async run(): Promise<void> {
    await Promise.all(this.codes.map((_, shard) => this.#keepRunning(shard)));
  }

  /** Ends one member; on another machine it starts from an empty directory. */
  async evict(shard: number, way: "term" | "kill-all" | "kill-supervisor", isMoved: boolean): Promise<void> {
    const start = this.#starts[shard];
    if (!start || start.hasEnded) return;
    const dir = this.#dirs[shard] ?? "";
    if (isMoved) this.#dirs[shard] = this.#machine();
    if (way === "term") start.kill("SIGTERM");
    else {
      this.#killed.add(start);
      const below = descendantsOf(start.pid);
      start.kill("SIGKILL");
      if (way === "kill-all") for (const pid of below) kill(pid, "SIGKILL");
    }
    await start.ended;
    if (!isMoved) return;
    await sleep(300);
    for (const pid of findProcesses((read) => read("cmdline").some((text) => text.includes(`"${dir}"`))))
      kill(pid, "SIGKILL");
  }

  /** Lets all shards end, a little later than the furthest of them is. */
  finish(): void {
    const saved = this.#dirs.flatMap((dir) =>
      readdirSync(dir).flatMap((name) => /^checkpoint-(\d+)$/.exec(name)?.[1] ?? []),
    );
    const last = Math.max(0, ...saved.map(Number)) + 4 * this.#training.every;
    writeFileSync(`${this.#last}.new`, String(last));
    renameSync(`${this.#last}.new`, this.#last);
  }

  get meetings(): readonly MeetingLine[] {
    const path = join(this.meet, "meetings");
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as MeetingLine);
  }

  async #keepRunning(shard: number): Promise<void> {
    const { of } = this.#training;
    for (;;) {
      const dir = this.#dirs[shard] ?? "";
      const options: GangOptions = { ...this.#training, shard, dir, meet: this.meet, last: this.#last };
      const command = [process.execPath, program, JSON.stringify(options)];
      const start = this.#scene.run(this.#run, dir, command, ["--shard", `${shard}/${of}`]);
      this.#starts[shard] = start;
      const { code, signal } = await start.ended;
      const wasKilled = this.#killed.has(start);
      this.codes[shard]?.push(wasKilled ? "killed" : (code ?? signal));
      this.outputs.push(`shard ${shard}: ${code ?? signal}\n${start.output}`);
      if (code === 0) return;
      // Before its handlers stand, SIGTERM ends it as it ends any program.
      const isEarly = signal === "SIGTERM" && start.lines.length === 0;
      if (code !== 75 && !wasKilled && !isEarly)
        throw new Error(`shard ${shard} ended with ${code ?? signal}:\n${start.output}`);
      await sleep(50);
    }
  }

  #machine(): string {
    this.#machines += 1;
    return this.#scene.dir(`${this.#run}-machine-${this.#machines}`);
  }
}
