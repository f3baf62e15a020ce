import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../evictions/support/random.ts";
import type { Ended } from "../support/outlast-process.ts";
import type { Job } from "./job.ts";

/** How a campaign goes. */
export interface CampaignOptions {
  readonly job: Job;
  readonly items: number;
  readonly kills: number;
  readonly workers: number;
  /** A kill comes this long after the victim's first settled chunk, at most. */
  readonly longestMs: number;
  readonly seed: number;
}

/** One worker's life. */
export interface Life {
  readonly by: string;
  readonly end: "SIGKILL" | "SIGTERM" | "drained";
  readonly ended: Ended;
}

/** Keeps so many workers at work, kills one after the other, replaces each, and lets the last ones finish. */
export class KillCampaign {
  readonly #options: CampaignOptions;
  readonly #lives: Life[] = [];
  #begun = 0;
  #handled = 0;
  #last = 0;

  constructor(options: CampaignOptions) {
    this.#options = options;
  }

  /** Resolves when every worker has ended and nothing is left. */
  async run(): Promise<readonly Life[]> {
    const slots = Array.from({ length: this.#options.workers }, () => this.#keepOne());
    try {
      await Promise.all(slots);
    } finally {
      await this.#options.job.killAll();
    }
    return this.#lives;
  }

  get kills(): number {
    return this.#lives.filter(({ end }) => end !== "drained").length;
  }

  async #keepOne(): Promise<void> {
    const { kills } = this.#options;
    while (this.#begun < kills) {
      this.#begun += 1;
      const life = await this.#liveOnce(this.#begun);
      this.#lives.push(life);
      if (life.end === "drained")
        throw new Error(`nothing was left to do after ${this.kills} kills: items ran out early`);
    }
    this.#last += 1;
    const by = `last${this.#last}`;
    const worker = this.#options.job.startWorker({ by });
    this.#lives.push({ by, end: "drained", ended: await worker.ended });
  }

  async #liveOnce(nth: number): Promise<Life> {
    const { job, seed, longestMs } = this.#options;
    const by = `w${nth}`;
    // Each life has its own: which slot comes first is up to the machine.
    const random = new Random(seed + nth * 7919);
    const signal = random.pick<"SIGKILL" | "SIGTERM">(["SIGKILL", "SIGTERM"]);
    const delayMs = random.between(0, longestMs);
    // Every other victim meets its end in the middle of an item that cannot be finished in the grace.
    const stallAfterMs = random.pick([undefined, delayMs * 0.9]);
    const worker = job.startWorker({ by, paceMs: this.#paceMs(), stallAfterMs, flags: ["--grace", "2s"] });
    await worker.says("a chunk is settled");
    await sleep(delayMs);
    worker.kill(signal);
    const ended = await worker.ended;
    this.#handled += (await job.executionsBy(by)).length;
    const isDrained = ended.code === 0;
    return { by, end: isDrained ? "drained" : signal, ended };
  }

  /** So slow that the items last for all kills, with some left over; measured anew for each worker, whatever the machine does. */
  #paceMs(): number {
    const { items, kills, workers, longestMs } = this.#options;
    const left = items - this.#handled;
    // Some lives are still under way and not counted yet, and one may be twice as long as the mean.
    const reserve = 2 * workers + Math.max(8, 0.1 * kills);
    const each = left / (kills - this.#begun + reserve);
    return Math.round(longestMs / 2 / Math.max(1, each - 20));
  }
}
