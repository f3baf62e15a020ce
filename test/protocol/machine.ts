import { hashHex } from "../../src/checkpoint/hash.ts";
import { RunLog } from "../../src/checkpoint/log/run-log.ts";
import type { CommitState, LogState } from "../../src/checkpoint/log/state.ts";
import type { Manifest } from "../../src/checkpoint/manifest.ts";
import { getManifest } from "../../src/checkpoint/manifest-codec.ts";
import { isDamage, readNewest } from "../../src/checkpoint/read-newest.ts";
import { collectLeftovers } from "../../src/checkpoint/retention/collect.ts";
import type { Deleted } from "../../src/checkpoint/retention/delete-all.ts";
import { type PruneResult, pruneCommits } from "../../src/checkpoint/retention/prune.ts";
import { openRun, type RunStore } from "../../src/checkpoint/run-store.ts";
import { type Settled, settleTarget } from "../../src/checkpoint/settle-target.ts";
import { ReuseBook } from "../../src/checkpoint/ship/reuse-book.ts";
import { type ShipOutcome, shipFiles } from "../../src/checkpoint/ship/ship-files.ts";
import { takeOver } from "../../src/checkpoint/take-over.ts";
import type { Tenure } from "../../src/checkpoint/tenure.ts";
import { OutlastError } from "../../src/core/index.ts";
import { FakeClock, type MemoryStore } from "../../src/testing/index.ts";
import { modelTransfer } from "../model/checkpoint-world.ts";
import { HeldStore } from "./held-store.ts";

/** A checkpoint's files, by path. */
export type Files = Readonly<Record<string, string>>;

/** One machine that works on a run: its own view of the store, its own log reader, its own memory; it can be frozen at any store call. */
export class Machine {
  readonly clock: FakeClock = new FakeClock();
  readonly store: HeldStore;
  readonly run: RunStore;
  readonly log: RunLog;
  readonly book: ReuseBook = new ReuseBook();
  readonly shard: number;
  readonly of: number;
  /** What it restored. */
  files: Files = {};
  #tenure: Tenure | undefined;
  #shipments = 0;

  constructor(store: MemoryStore, place: { readonly shard?: number; readonly of?: number } = {}) {
    this.shard = place.shard ?? 0;
    this.of = place.of ?? 1;
    this.store = new HeldStore(store);
    this.run = openRun(this.store, "r");
    this.log = new RunLog(this.run, { clock: this.clock, useHint: false });
  }

  get tenure(): Tenure {
    if (!this.#tenure) throw new Error("this machine has not settled");
    return this.#tenure;
  }

  /** Appends the epoch record; answers with its position. */
  async takeOver(): Promise<number> {
    const { shard, of } = this;
    const record = await takeOver(this.run, this.log, { shard, of, hash: "sha256" });
    if (!record) throw new Error("the run is finished");
    return record.n;
  }

  /** Restores the newest good commit and, with several shards, waits for the gang. */
  async settle(epoch: number): Promise<Settled> {
    const settled = await settleTarget(this.run, this.log, {
      shard: this.shard,
      of: this.of,
      epoch,
      clock: this.clock,
      restore: async (commit, state) => {
        try {
          await this.#restore(commit, state);
          return { ok: true };
        } catch (error) {
          if (isDamage(error)) return { ok: false, damaged: error.message };
          throw error;
        }
      },
    });
    this.#tenure = settled.tenure;
    return settled;
  }

  async start(): Promise<Settled> {
    return this.settle(await this.takeOver());
  }

  async #restore(commit: CommitState, state: LogState): Promise<void> {
    const ref = commit.manifests[this.shard];
    if (!ref) throw new Error(`commit ${commit.at} has no shard ${this.shard}`);
    const manifest = await getManifest(this.run, ref, state.hash);
    this.files = await this.readFiles(manifest);
    this.book.add(commit.at, [manifest]);
  }

  async readFiles(manifest: Manifest): Promise<Files> {
    const files: Record<string, string> = {};
    for (const [index, chunk] of manifest.chunks.entries()) {
      const body = await this.run.get(chunk.key);
      if (hashHex(manifest.hash, body) !== chunk.hash) throw new OutlastError("OUTLAST_CHECKPOINT_DAMAGED", chunk.key);
      files[manifest.entries[index]?.path ?? ""] = Buffer.from(body).toString();
    }
    return files;
  }

  /** Ships files as a step. */
  async ship(step: number, files: Files): Promise<ShipOutcome> {
    const outcome = await shipFiles(
      {
        run: this.run,
        log: this.log,
        tenure: this.tenure,
        transfer: modelTransfer,
        book: this.book,
        nextShipment: () => (this.#shipments += 1),
      },
      {
        step,
        convention: "test",
        path: "",
        files: Object.entries(files)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([path, text]) => ({ path, source: "", size: 0, mode: 0o644, mtimeMs: 0, bytes: Buffer.from(text) })),
        entries: [],
        last: [],
        savedAt: "",
      },
    );
    if (outcome.kind === "committed") this.book.add(outcome.commit.at, [outcome.manifest]);
    return outcome;
  }

  /** Ships and answers with the commit's position. */
  async commit(step: number, files: Files): Promise<number> {
    const outcome = await this.ship(step, files);
    if (outcome.kind !== "committed") throw new Error(`step ${step}: ${outcome.kind}`);
    return outcome.commit.at;
  }

  prune(keep: number): Promise<PruneResult> {
    return pruneCommits(this.run, this.log, { keep });
  }

  collect(): Promise<Deleted> {
    return collectLeftovers(this.run, this.log);
  }

  /** Reads what a restore of this shard would give now, without writing anything to the log. */
  read(): Promise<{ step: number; files: Files }> {
    return readNewest(this.run, this.log, {}, async (commit, state) => {
      await this.#restore(commit, state);
      return { step: commit.step, files: this.files };
    });
  }

  async state(): Promise<LogState> {
    const head = await this.log.head();
    if (!head) throw new Error("the log is empty");
    return head.state;
  }

  /** Lets time pass until a promise is settled; fails when it is not, however long one waits. */
  static async awaitAll<T>(machines: readonly Machine[], promises: readonly Promise<T>[]): Promise<T[]> {
    let isOver = false;
    const all = Promise.all(promises).finally(() => {
      isOver = true;
    });
    all.catch(() => {});
    for (let second = 0; second < 50 && !isOver; second += 1) {
      for (const machine of machines) await machine.clock.advance(1000);
    }
    if (!isOver) throw new Error("they wait for ever");
    return all;
  }
}
