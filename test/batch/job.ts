import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { QueueAuditJson } from "../../src/cli/json/queue.ts";
import { type Ledger, openLedger } from "../../src/results/index.ts";
import { type Ended, type OutlastProcess, startOutlast } from "../support/outlast-process.ts";

/** Where a job's queue and results are. */
export interface Layout {
  readonly queue: string;
  readonly results?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The shortest this broker can do, or 5 s. */
  readonly lease: string;
  /** How often the ledger charged a failure, summed over all items. */
  readonly failures: () => Promise<number>;
}

/** What a handler did: once for each execution. */
export interface Execution {
  readonly id: string;
  readonly attempt: number;
  readonly by: string;
}

/** How a worker is to be. */
export interface WorkerSetup {
  /** With what its handler signs. */
  readonly by: string;
  /** Milliseconds for an item. @default 0 */
  readonly paceMs?: number;
  /** From so long after its first settled chunk, an item takes longer than anyone waits. */
  readonly stallAfterMs?: number | undefined;
  /** No item is answered before this file is there. */
  readonly gate?: string | undefined;
  readonly flags?: readonly string[];
}

const handler = join(import.meta.dirname, "fixtures/handler.mjs");

/** One batch job, run by real commands in processes of their own. */
export class Job {
  readonly layout: Layout;
  /** Its own directory. */
  readonly folder: string;
  readonly #names: string[] = [];
  readonly #alive = new Set<OutlastProcess>();

  constructor(layout: Layout, folder: string) {
    this.layout = layout;
    this.folder = folder;
  }

  /** Publishes `count` items, `i0` and on. */
  async publish(count: number): Promise<void> {
    const source = join(this.folder, "items.jsonl");
    await writeFile(source, Array.from({ length: count }, (_, i) => `{"id":"i${i}","n":${i}}\n`).join(""));
    const { code, stderr } = await this.#command("publish", source, "--id", "id").ended;
    expect(code, stderr).toBe(0);
  }

  /** Starts a worker. */
  startWorker({ by, paceMs = 0, stallAfterMs, gate, flags = [] }: WorkerSetup): OutlastProcess {
    this.#names.push(by);
    const manner = [String(paceMs), String(stallAfterMs ?? ""), gate ?? ""];
    const command = [process.execPath, handler, this.#logOf(by), by, ...manner];
    const always = ["--notice", "signal", "--lease", this.layout.lease, "--until-drained"];
    const worker = this.#command("work", ...always, ...flags, "--", ...command);
    this.#alive.add(worker);
    void worker.ended.then(() => this.#alive.delete(worker));
    return worker;
  }

  /** For a test that has failed: no process stays behind. */
  async killAll(): Promise<void> {
    const left = [...this.#alive];
    for (const worker of left) worker.kill("SIGKILL");
    await Promise.all(left.map(({ ended }) => ended));
  }

  /** What one worker's handler was given so far. */
  async executionsBy(by: string): Promise<readonly Execution[]> {
    const text = await readFile(this.#logOf(by), "utf8").catch(() => "");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => {
        const [id = "", attempt] = line.split(" ");
        return { id, attempt: Number(attempt), by };
      });
  }

  /** Waits until a worker's handler was given its first item. */
  async untilBegun(by: string): Promise<void> {
    while ((await this.executionsBy(by)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  async executions(): Promise<readonly Execution[]> {
    return (await Promise.all(this.#names.map((by) => this.executionsBy(by)))).flat();
  }

  /** Each id's stored result: what it is, and whose. */
  async results(): Promise<Map<string, { readonly of: string; readonly by: string }>> {
    const ledger = await this.openLedger();
    const all = new Map<string, { of: string; by: string }>();
    for await (const { id, result } of ledger.results()) all.set(id, result as { of: string; by: string });
    await ledger.close();
    return all;
  }

  async audit(): Promise<QueueAuditJson> {
    const { stdout, stderr } = await this.#command("queue", "audit", "--json").ended;
    expect(stdout, stderr).not.toBe("");
    return JSON.parse(stdout) as QueueAuditJson;
  }

  /** The ledger, for looking. */
  openLedger(): Promise<Ledger> {
    return openLedger(this.layout.results ?? this.layout.queue);
  }

  #command(...args: readonly string[]): OutlastProcess {
    const { queue, results, env } = this.layout;
    const cut = args.indexOf("--") < 0 ? args.length : args.indexOf("--");
    const where = ["--queue", queue, ...(results === undefined ? [] : ["--results", results])];
    return startOutlast([...args.slice(0, cut), ...where, ...args.slice(cut)], {
      cwd: this.folder,
      // Hundreds of starts: compiling the same files each time would be most of the work.
      env: { NODE_COMPILE_CACHE: join(this.folder, "../compiled"), ...env },
    });
  }

  #logOf(by: string): string {
    return join(this.folder, `executions-${by}`);
  }
}

/** That a worker ended as it should: evicted, or with nothing left to do. */
export function expectCalmEnd({ code, signal, stderr }: Ended): void {
  expect(signal, stderr).toBeNull();
  expect([0, 75], stderr).toContain(code);
}
