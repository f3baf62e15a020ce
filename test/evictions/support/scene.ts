import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcesses, kill } from "./processes.ts";
import { Start, type StartOptions } from "./start.ts";

/** A temporary place for one test, and every process that was started in it. */
export class Scene {
  readonly root: string = mkdtempSync(join(tmpdir(), "outlast-evictions-"));
  readonly store: string = join(this.root, "store");
  readonly #starts: Start[] = [];
  #dirs = 0;

  /** A fresh, empty directory: another machine's disk. */
  dir(name = `machine-${(this.#dirs += 1)}`): string {
    const path = join(this.root, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Starts the real CLI. */
  start(args: readonly string[], options: Omit<StartOptions, "marker" | "log"> = {}): Start {
    const log = join(this.root, `start-${this.#starts.length + 1}.log`);
    const start = new Start(args, { ...options, log, marker: this.#marker });
    this.#starts.push(start);
    return start;
  }

  /** `outlast run` on this scene's store. */
  run(
    run: string,
    dir: string,
    command: readonly string[],
    flags: readonly string[] = [],
    env: Record<string, string> = {},
  ): Start {
    const own = [
      "run",
      "--store",
      this.store,
      "--dir",
      dir,
      "--run",
      run,
      "--notice",
      "signal",
      "--log-format",
      "json",
    ];
    return this.start([...own, ...flags, "--", ...command], { env });
  }

  /** Living processes that were started here, or whose parents were. */
  processes(): readonly number[] {
    return findProcesses((read) => read("environ").includes(this.#marker));
  }

  /** Ends all that still runs, and removes everything. */
  async end(): Promise<void> {
    await this.stop();
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Ends all that still runs. */
  async stop(): Promise<void> {
    for (let round = 0; round < 100; round += 1) {
      const left = this.processes();
      if (left.length === 0) break;
      for (const pid of left) kill(pid, "SIGKILL");
      await sleep(20);
    }
  }

  get #marker(): string {
    return `TEST_EVICTIONS=${this.root}`;
  }
}
