import type { Delivery, WorkQueue } from "../../src/queue/index.ts";
import type {
  Depth,
  ItemData,
  ItemKey,
  JsonValue,
  SettleOutcome,
  Settlement,
  StartOutcome,
} from "../../src/results/index.ts";

/** One item of a {@link MemoryQueue} and all that happened to it. */
export interface MemoryItem {
  readonly id: string;
  readonly data: ItemData;
  state: "ready" | "leased" | "started" | "done" | "dead";
  failures: number;
  isSuspect: boolean;
  claim: string | undefined;
  result: JsonValue | undefined;
  error: string | undefined;
  /** Starts, for counting executions. */
  starts: number;
}

/** A queue in memory for tests of the worker: no clock, no delays, every call written down, faults by hand. */
export class MemoryQueue implements WorkQueue {
  readonly url = "memory:";
  readonly items = new Map<string, MemoryItem>();
  readonly calls: string[] = [];
  readonly renewed: string[][] = [];
  /** Ids that the next renewals find lost. */
  readonly lost = new Set<string>();
  /** Runs before each call; a throw is the call's failure. */
  before: (call: string) => void | Promise<void> = () => {};
  attempts = 5;
  isClosed = true;
  #claims = 0;
  #wake = Promise.withResolvers<void>();

  add(...ids: readonly string[]): this {
    for (const id of ids) {
      const blank = { claim: undefined, result: undefined, error: undefined, starts: 0 };
      this.items.set(id, { id, data: { n: id }, state: "ready", failures: 0, isSuspect: false, ...blank });
    }
    this.#changed();
    return this;
  }

  get(id: string): MemoryItem {
    const item = this.items.get(id);
    if (!item) throw new Error(`no item ${id}`);
    return item;
  }

  /** Ids in a state, in order. */
  in(state: MemoryItem["state"]): string[] {
    return [...this.items.values()].filter((item) => item.state === state).map(({ id }) => id);
  }

  async prepare(): Promise<void> {}
  async plan(): Promise<readonly string[]> {
    return [];
  }

  async pull(
    max: number,
    { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly Delivery[]> {
    await this.#called(`pull ${max}`);
    if (this.in("ready").length === 0 && waitMs > 0 && !signal?.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, Math.min(waitMs, 20));
      signal?.addEventListener("abort", () => resolve());
      await Promise.race([promise, this.#wake.promise]);
      clearTimeout(timer);
    }
    if (signal?.aborted) return [];
    return this.in("ready")
      .slice(0, max)
      .map((id) => {
        const item = this.get(id);
        item.state = "leased";
        return { id, generation: 1, data: item.data, receipt: id };
      });
  }

  async start(
    deliveries: readonly Delivery[],
    { isIdle }: { readonly isIdle: boolean },
  ): Promise<readonly StartOutcome[]> {
    await this.#called(`start ${deliveries.map(({ id }) => id).join(",")}${isIdle ? " idle" : ""}`);
    const suspect = deliveries.find(({ id }) => this.get(id).isSuspect && this.get(id).state === "leased");
    return deliveries.map(({ id }): StartOutcome => {
      const item = this.get(id);
      if (item.state === "done" || item.state === "dead") return { kind: "settled" };
      if (suspect && isIdle && suspect.id !== id) {
        item.state = "ready";
        return { kind: "handed-back", delayMs: 0 };
      }
      if (item.isSuspect && !isIdle) return { kind: "must-wait" };
      item.state = "started";
      item.starts += 1;
      item.claim = `c${(this.#claims += 1)}`;
      return { kind: item.isSuspect ? "started-alone" : "started", claim: item.claim, failures: item.failures };
    });
  }

  async renew(deliveries: readonly Delivery[]): Promise<readonly ItemKey[]> {
    await this.#called("renew");
    this.renewed.push(deliveries.map(({ id }) => id));
    return deliveries.filter(({ id }) => this.lost.has(id));
  }

  async settle(
    settlements: readonly (Settlement & { readonly delivery: Delivery })[],
  ): Promise<readonly SettleOutcome[]> {
    await this.#called(`settle ${settlements.map(({ id, ending }) => `${id}:${ending.kind}`).join(",")}`);
    const outcomes = settlements.map(({ id, claim, ending }): SettleOutcome => {
      const item = this.get(id);
      if (item.state === "done") return { kind: "late" };
      if (item.claim !== claim) return { kind: "refused" };
      item.claim = undefined;
      if (ending.kind === "result") {
        item.state = "done";
        item.result = ending.result;
        return { kind: "accepted" };
      }
      item.state = "ready";
      if (ending.kind === "hand-back") return { kind: "accepted" };
      item.failures += 1;
      item.error = ending.error;
      const isDead = ending.permanent || item.failures >= this.attempts;
      if (isDead) item.state = "dead";
      return { kind: "accepted", isDead, delayMs: ending.retryDelayMs };
    });
    this.#changed();
    return outcomes;
  }

  async release(deliveries: readonly Delivery[]): Promise<void> {
    await this.#called(`release ${deliveries.map(({ id }) => id).join(",")}`);
    for (const { id } of deliveries) if (this.get(id).state === "leased") this.get(id).state = "ready";
    this.#changed();
  }

  async isDrained(): Promise<boolean> {
    await this.#called("isDrained");
    return this.isClosed && [...this.items.values()].every(({ state }) => state === "done" || state === "dead");
  }

  async depth(): Promise<Depth> {
    const count = (state: MemoryItem["state"]) => this.in(state).length;
    const blank = { delayed: 0, oldestReadySeconds: undefined, ratePerMinute: 0, interruptions: 0, late: 0 };
    const leased = count("leased") + count("started");
    const openPublications = this.isClosed ? 0 : 1;
    return {
      ready: count("ready"),
      leased,
      dead: count("dead"),
      done: count("done"),
      total: this.items.size,
      openPublications,
      ...blank,
    };
  }

  async close(): Promise<void> {}

  async #called(call: string): Promise<void> {
    this.calls.push(call);
    await this.before(call.split(" ")[0] ?? "");
  }

  #changed(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }
}
