import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type Beginning,
  createSession,
  type CheckpointSession,
  listCheckpoints,
  openRun,
  pullCheckpoint,
  readCommitHistory,
  type SessionEvents,
  type Transfer,
  verifyCheckpoints,
} from "../../../src/checkpoint/index.ts";
import { type Clock, systemClock } from "../../../src/core/index.ts";
import { type ObjectStore, withRetry } from "../../../src/storage/index.ts";
import { Random } from "../../evictions/support/random.ts";
import { drawTree, frozenFiles, readTree, type Tree, writeTree } from "./saved-tree.ts";
import { checkFailure, ScheduleModel } from "./schedule-model.ts";
import { SchedulePlan } from "./schedule-plan.ts";
import { mortal, readOnce } from "./store-wrappers.ts";

/** The real clock, but nobody sleeps long. */
const hastyClock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 2), signal) };

/** What a schedule runs on. */
export interface ScheduleWorld {
  /** Through the proxy. */
  readonly faulty: ObjectStore;
  /** The same objects, without it. */
  readonly clean: ObjectStore;
  readonly transfer: Transfer;
  /** A folder for local directories. */
  readonly root: string;
  /** Resolves when the proxy has nothing left to apply. */
  readonly settled: () => Promise<void>;
}

/** What came of a schedule. */
export interface ScheduleTally {
  starts: number;
  failedStarts: number;
  kills: number;
  twins: number;
  saves: number;
  commits: number;
  restores: number;
}

/** A few starts of one run over a bad network, with kills and second supervisors, checked against the model. */
export class Schedule {
  readonly run: string;
  readonly plan: SchedulePlan;
  readonly tally: ScheduleTally = {
    starts: 0,
    failedStarts: 0,
    kills: 0,
    twins: 0,
    saves: 0,
    commits: 0,
    restores: 0,
  };
  readonly #random: Random;
  readonly #world: ScheduleWorld;
  readonly #model = new ScheduleModel();
  readonly #store: ObjectStore;
  readonly #frozen: Tree;
  readonly #keep: number;
  #wrong: Error | undefined;
  /** Of all starts that have begun. */
  readonly #epochs: number[] = [];
  #folders = 0;

  constructor(seed: number, world: ScheduleWorld) {
    this.run = `s${seed}`;
    this.#world = world;
    this.#random = new Random(seed);
    this.plan = new SchedulePlan(new Random(seed + 0x5eed));
    this.#store = withRetry(mortal(world.faulty, this.plan), { clock: hastyClock, random: () => 0 });
    this.#frozen = frozenFiles(this.#random, this.#random.next() < 0.1);
    this.#keep = this.#random.pick([2, 3]);
  }

  async execute(): Promise<void> {
    const root = await mkdtemp(join(this.#world.root, `${this.run}-`));
    try {
      const starts = this.#random.pick([1, 2, 2, 3]);
      let dir = await this.#folder(root);
      for (let start = 1; start <= starts; start += 1) {
        await this.#start(root, dir);
        if (this.#wrong) throw this.#wrong;
        if (this.#random.next() < 0.7) dir = await this.#folder(root);
      }
      await this.#world.settled();
      await this.#check(root);
    } catch (error) {
      throw new Error(`schedule ${this.run}: ${String(error)}\n${this.plan.trace.join("\n")}`, { cause: error });
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  }

  async #start(root: string, dir: string): Promise<void> {
    const random = this.#random;
    const isFresh = (await readTree(dir)).size === 0;
    const begun = await this.#begin(dir, isFresh);
    if (!begun) return;
    const { session } = begun;
    if (random.next() < 0.35) {
      this.tally.kills += 1;
      // The process is gone: it aborts nothing and cleans up nothing that a request would be needed for.
      this.plan.killIn(Math.floor(random.between(1, 25)), () => void session.close());
    }
    let step = begun.step;
    for (let saves = random.pick([1, 1, 2]); saves > 0 && !this.plan.isDead; saves -= 1) {
      step += 10;
      await this.#save(session, dir, step);
      if (this.#wrong) break;
      if (random.next() < 0.12 && !this.plan.isDead) {
        await this.#twin(root, session, dir, step + 10);
        break;
      }
    }
    await session.close();
    this.plan.revive();
  }

  /** Begins a start and checks what it restored; undefined when the network did not let it. */
  async #begin(dir: string, isFresh: boolean): Promise<{ session: CheckpointSession; step: number } | undefined> {
    this.tally.starts += 1;
    const session = this.#session(dir);
    let beginning: Beginning;
    try {
      beginning = await session.begin();
    } catch (error) {
      await session.close();
      checkFailure(error);
      this.tally.failedStarts += 1;
      return undefined;
    }
    if (beginning.kind !== "start") throw new Error("the run was taken for finished");
    const { resume, epoch } = beginning;
    this.#epochs.push(epoch);
    session.events.on("session:committed", ({ step }) =>
      this.#watching(() => {
        this.tally.commits += 1;
        this.#model.committed(epoch, step);
      }),
    );
    if (resume) this.tally.restores += 1;
    this.#model.restored(resume && { step: resume.step, tree: await readTree(resume.path) }, isFresh);
    return { session, step: resume?.step ?? 0 };
  }

  async #save(session: CheckpointSession, dir: string, step: number): Promise<void> {
    const tree = drawTree(this.#random, step, this.#frozen);
    this.#model.saved(step, tree);
    this.tally.saves += 1;
    const before = this.#model.reported.length;
    await writeTree(join(dir, `checkpoint-${step}`), tree);
    const { lostStep } = await session.finish({ writer: { state: "exited" } });
    const isReported = this.#model.reported.length > before;
    // As frameworks rotate.
    if (isReported) await rm(join(dir, `checkpoint-${step - 10}`), { recursive: true, force: true });
    if (isReported === (lostStep !== undefined) && !this.plan.isDead)
      throw new Error(`step ${step}: ${isReported ? "reported committed, and lost" : "neither committed nor lost"}`);
  }

  /** Another machine takes over while this one still lives and ships: this one may commit before, and nothing from then on. */
  async #twin(root: string, old: CheckpointSession, oldDir: string, step: number): Promise<void> {
    this.tally.twins += 1;
    const dir = await this.#folder(root);
    const tree = drawTree(this.#random, step, this.#frozen);
    this.#model.saved(step, tree);
    await writeTree(join(oldDir, `checkpoint-${step}`), tree);
    const shipping = old.finish({ writer: { state: "exited" } });
    await systemClock.sleep(this.#random.between(0, 30));
    const begun = await this.#begin(dir, true);
    await shipping;
    if (!begun) return;
    const reported = this.#model.reported.length;
    await old.finish({ writer: { state: "exited" } });
    if (this.#model.reported.length > reported) throw new Error("a start that was overtaken reported a commit");
    await this.#save(begun.session, dir, begun.step + 10);
    await begun.session.close();
  }

  /** What somebody finds who reads the store over a good network. */
  async #check(root: string): Promise<void> {
    const { clean, transfer } = this.#world;
    const run = openRun(readOnce(clean), this.run);
    if (this.tally.starts === this.tally.failedStarts) return;
    const { commits } = await readCommitHistory(run, { clock: hastyClock });
    for (const { epoch, step } of this.#model.reported) {
      if (!commits.some((commit) => commit.epoch === epoch && commit.step === step))
        throw new Error(`false success: step ${step} of epoch ${epoch} was reported committed and is not in the log`);
    }
    for (const { epoch, step, position } of commits) {
      const later = this.#epochs.find((other) => other > epoch && other < position);
      if (later) throw new Error(`step ${step} was committed by epoch ${epoch}, but epoch ${later} had taken over`);
    }
    if (commits.length === 0) return this.#model.restored(undefined, true);
    const { checkpoints } = await listCheckpoints(run);
    const damaged = checkpoints.filter(({ state }) => state === "damaged");
    if (damaged.length > 0) throw new Error(`step ${damaged[0]?.step} is on record as damaged, and is not`);
    const verified = await verifyCheckpoints(run, { transfer });
    if (!verified.ok) throw new Error(`torn: ${JSON.stringify(verified.checked.filter(({ ok }) => !ok))}`);
    const { step, path } = await pullCheckpoint(run, { to: await this.#folder(root), transfer });
    this.#model.restored({ step, tree: await readTree(path) }, true);
  }

  #session(dir: string): CheckpointSession {
    const session = createSession({
      store: this.#store,
      run: this.run,
      dir,
      transfer: this.#world.transfer,
      clock: hastyClock,
      keep: this.#keep,
    });
    const failed = ({ error }: SessionEvents["session:warning"]) =>
      this.#watching(() => {
        if (error !== undefined) checkFailure(error);
      });
    session.events.on("session:warning", failed);
    session.events.on("session:damaged", ({ step, why }) =>
      this.#watching(() => {
        throw new Error(`step ${step} was taken for damaged: ${why}`);
      }),
    );
    return session;
  }

  /** An event's listener must not throw into the session; what it finds ends the schedule. */
  #watching(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#wrong ??= error as Error;
    }
  }

  async #folder(root: string): Promise<string> {
    this.#folders += 1;
    const path = join(root, `machine-${this.#folders}`);
    await mkdir(path);
    return path;
  }
}
