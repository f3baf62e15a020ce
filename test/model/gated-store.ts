import { createHash } from "node:crypto";
import { type Clock, OutlastError } from "../../src/core/index.ts";
import type { GetOptions, ObjectInfo, ObjectStore } from "../../src/storage/index.ts";

/** A store call that waits to be let through. */
export interface Call {
  readonly actor: string;
  readonly op: "get" | "put" | "putIfAbsent" | "list" | "delete" | "wait";
  readonly key: string;
  readonly isWrite: boolean;
  /** How many calls the actor had made before. */
  readonly order: number;
  /** The same in every schedule in which the actor has been answered the same. */
  readonly id: string;
  readonly perform: () => string;
  /** A wait: it can end once the log has more records than this. */
  readonly records?: number;
}

/** An in-memory store whose calls happen one at a time, when told. */
export class GatedStore {
  readonly #objects: Map<string, Uint8Array>;
  readonly #sums = new Map<string, string>();
  readonly #histories = new Map<string, Map<number, string>>();
  readonly #counts = new Map<string, number>();
  #pending: Call[] = [];

  constructor(objects: ReadonlyMap<string, Uint8Array>) {
    this.#objects = new Map(objects);
    for (const [key, body] of this.#objects) this.#sums.set(key, digest(body));
  }

  get objects(): ReadonlyMap<string, Uint8Array> {
    return this.#objects;
  }

  /** Waiting calls in an order that depends on the actors' programs only. */
  pending(): readonly Call[] {
    const records = this.#records();
    return this.#pending
      .filter((call) => call.records === undefined || records > call.records)
      .toSorted((a, b) => (a.actor === b.actor ? a.order - b.order : a.actor < b.actor ? -1 : 1));
  }

  #records(): number {
    let count = 0;
    for (const key of this.#objects.keys()) if (key.includes("/log/")) count += 1;
    return count;
  }

  /** A clock whose sleep lasts until the log has grown: polling that sees nothing new leads nowhere new. */
  clock(actor: string): Clock {
    const sleep = () =>
      new Promise<void>((resolve) => {
        const order = this.made(actor);
        this.#counts.set(actor, order + 1);
        const perform = () => {
          resolve();
          return "woken";
        };
        const records = this.#records();
        this.#pending.push({
          actor,
          op: "wait",
          key: "log",
          isWrite: false,
          order,
          id: `${actor}#${order}`,
          perform,
          records,
        });
      });
    return { now: () => 0, monotonic: () => 0, sleep };
  }

  /** How many calls an actor has made. */
  made(actor: string): number {
    return this.#counts.get(actor) ?? 0;
  }

  perform(call: Call): string {
    this.#pending = this.#pending.filter((other) => other !== call);
    const answer = call.perform();
    let history = this.#histories.get(call.actor);
    if (!history) {
      history = new Map();
      this.#histories.set(call.actor, history);
    }
    // By order of asking, not of answering: calls that an actor makes side by side commute for it.
    history.set(call.order, answer);
    return answer;
  }

  /** Whether nothing that can still happen changes this call's answer or can tell when it happened: log records never change once there. */
  isSettled(call: Call): boolean {
    return (
      /\/log\/\d+\.json$/.test(call.key) &&
      (call.op === "get" || call.op === "putIfAbsent") &&
      this.#objects.has(call.key)
    );
  }

  /** The store's content and each actor's history in one string. */
  fingerprint(): string {
    const hash = createHash("sha1");
    for (const key of [...this.#sums.keys()].toSorted()) hash.update(`${key}=${this.#sums.get(key)}\n`);
    for (const actor of [...this.#histories.keys()].toSorted()) {
      hash.update(`${actor}:`);
      const history = this.#histories.get(actor) ?? new Map<number, string>();
      for (const order of [...history.keys()].toSorted((a, b) => a - b)) hash.update(`${order} ${history.get(order)},`);
    }
    return hash.digest("base64");
  }

  /** The store as one actor sees it. */
  view(actor: string): ObjectStore {
    const gate = <T>(
      op: Call["op"],
      key: string,
      act: () => { value: T; answer: string } | { error: OutlastError; answer: string },
    ): Promise<T> =>
      new Promise((resolve, reject) => {
        const order = this.#counts.get(actor) ?? 0;
        this.#counts.set(actor, order + 1);
        const perform = () => {
          const done = act();
          if ("error" in done) reject(done.error);
          else resolve(done.value);
          return done.answer;
        };
        this.#pending.push({
          actor,
          op,
          key,
          isWrite: op !== "get" && op !== "list",
          order,
          id: `${actor}#${order}`,
          perform,
        });
      });
    const set = (key: string, body: Uint8Array) => {
      this.#objects.set(key, body);
      this.#sums.set(key, digest(body));
    };
    const objects = this.#objects;
    const sums = this.#sums;
    return {
      url: "model:",
      put: (key, body) =>
        gate("put", key, () => {
          set(key, body);
          return { value: undefined, answer: "ok" };
        }),
      putIfAbsent: (key, body) =>
        gate<"created" | "exists">("putIfAbsent", key, () => {
          if (objects.has(key)) return { value: "exists", answer: "exists" };
          set(key, body);
          return { value: "created", answer: "created" };
        }),
      get: (key, _options?: GetOptions) =>
        gate("get", key, () => {
          const body = objects.get(key);
          if (body) return { value: body, answer: sums.get(key) ?? "" };
          return { error: new OutlastError("OUTLAST_OBJECT_NOT_FOUND", `no ${key}`), answer: "missing" };
        }),
      async *list(prefix) {
        const infos = await gate<ObjectInfo[]>("list", prefix, () => {
          const value = [...objects]
            .filter(([key]) => key.startsWith(prefix))
            .map(([key, body]) => ({ key, size: body.length }));
          value.sort((a, b) => (a.key < b.key ? -1 : 1));
          return { value, answer: digest(Buffer.from(value.map((info) => info.key).join("\n"))) };
        });
        yield* infos;
      },
      delete: (key) =>
        gate("delete", key, () => {
          objects.delete(key);
          sums.delete(key);
          return { value: undefined, answer: "ok" };
        }),
    };
  }
}

/** Whether two calls have the same effect and answers in either order. */
export function areIndependent(a: Call, b: Call): boolean {
  if (!a.isWrite && !b.isWrite) return true;
  if (a.op === "list") return !b.key.startsWith(a.key);
  if (b.op === "list") return !a.key.startsWith(b.key);
  return a.key !== b.key;
}

function digest(bytes: Uint8Array): string {
  return createHash("sha1").update(bytes).digest("hex").slice(0, 16);
}
