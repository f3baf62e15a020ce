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
  readonly perform: (isLost: boolean) => string;
  /** Whether the call is carried out but answered with an error, as when a connection is cut. */
  readonly isLost?: boolean;
}

/** An in-memory store whose calls happen one at a time, when told. */
export class GatedStore {
  readonly #objects: Map<string, Uint8Array>;
  readonly #sums = new Map<string, string>();
  readonly #histories = new Map<string, Map<number, string>>();
  readonly #counts = new Map<string, number>();
  /** The newest log record each actor knows of. */
  readonly #known = new Map<string, number>();
  #records = 0;
  #lostReplies: number;
  #pending: Call[] = [];

  /** `lostReplies`: how many created log records may be answered with an error in one schedule. */
  constructor(objects: ReadonlyMap<string, Uint8Array>, lostReplies = 0) {
    this.#objects = new Map(objects);
    this.#lostReplies = lostReplies;
    for (const [key, body] of this.#objects) this.#sums.set(key, digest(body));
    while ([...this.#objects.keys()].some((key) => positionOf(key) === this.#records + 1)) this.#records += 1;
  }

  get objects(): ReadonlyMap<string, Uint8Array> {
    return this.#objects;
  }

  /** Waiting calls in an order that depends on the actors' programs only. */
  pending(): readonly Call[] {
    const calls = this.#pending
      .filter((call) => call.op !== "wait" || this.#records > (this.#known.get(call.actor) ?? 0))
      .toSorted((a, b) => (a.actor === b.actor ? a.order - b.order : a.actor < b.actor ? -1 : 1));
    if (this.#lostReplies === 0) return calls;
    return calls.flatMap((call) => {
      const canBeLost = call.op === "putIfAbsent" && !this.#objects.has(call.key);
      return canBeLost ? [call, { ...call, id: `${call.id}!`, isLost: true }] : [call];
    });
  }

  /** Actors that sleep until the log grows. */
  waiting(): string[] {
    return this.#pending.filter((call) => call.op === "wait").map((call) => call.actor);
  }

  /** Whether an actor has a call open, whether or not it can happen now. */
  hasCall(actor: string): boolean {
    return this.#pending.some((call) => call.actor === actor);
  }

  /** A clock whose sleep lasts until the log has grown beyond what the actor knows: polling that sees nothing new leads nowhere new. */
  clock(actor: string): Clock {
    const sleep = () =>
      new Promise<void>((resolve) => {
        this.#ask(actor, "wait", "log", () => {
          resolve();
          return "woken";
        });
      });
    return { now: () => 0, monotonic: () => 0, sleep };
  }

  #ask(actor: string, op: Call["op"], key: string, perform: (isLost: boolean) => string): void {
    const order = this.made(actor);
    this.#counts.set(actor, order + 1);
    const isWrite = op !== "get" && op !== "list" && op !== "wait";
    this.#pending.push({ actor, op, key, isWrite, order, id: `${actor}#${order}`, perform });
  }

  /** How many calls an actor has made. */
  made(actor: string): number {
    return this.#counts.get(actor) ?? 0;
  }

  perform(call: Call): string {
    this.#pending = this.#pending.filter((other) => other.actor !== call.actor || other.order !== call.order);
    if (call.isLost) this.#lostReplies -= 1;
    const answer = call.perform(call.isLost ?? false);
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
  isSettled(call: Call, quiet: readonly string[]): boolean {
    const isThere = this.#objects.has(call.key);
    if (positionOf(call.key) > 0) return (call.op === "get" || call.op === "putIfAbsent") && isThere;
    const isQuiet = quiet.some((prefix) => call.key.slice(call.key.indexOf("/") + 1).startsWith(prefix));
    return isQuiet && ((call.op === "get" && isThere) || call.op === "put");
  }

  /** The store's content, each actor's history and what it asks now, in one string. */
  fingerprint(): string {
    const hash = createHash("sha1");
    for (const call of this.#pending.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
      hash.update(`${call.id} ${call.op} ${call.key}?\n`);
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
        this.#ask(actor, op, key, (isLost) => {
          const done = act();
          if (isLost) reject(new OutlastError("OUTLAST_STORE_UNREACHABLE", `the answer to ${op} ${key} was lost`));
          else if ("error" in done) reject(done.error);
          else resolve(done.value);
          return isLost ? "lost" : done.answer;
        });
      });
    const set = (key: string, body: Uint8Array) => {
      this.#objects.set(key, body);
      this.#sums.set(key, digest(body));
      if (positionOf(key) === this.#records + 1) this.#records += 1;
    };
    const know = (key: string) => {
      this.#known.set(actor, Math.max(this.#known.get(actor) ?? 0, positionOf(key)));
    };
    const objects = this.#objects;
    const sums = this.#sums;
    return {
      url: "model:",
      put: (key, body) =>
        gate("put", key, () => {
          const answer = objects.has(key) ? "replaced" : "new";
          set(key, body);
          return { value: undefined, answer };
        }),
      putIfAbsent: (key, body) =>
        gate<"created" | "exists">("putIfAbsent", key, () => {
          if (objects.has(key)) return { value: "exists", answer: "exists" };
          set(key, body);
          know(key);
          return { value: "created", answer: "created" };
        }),
      get: (key, _options?: GetOptions) =>
        gate("get", key, () => {
          const body = objects.get(key);
          if (body) know(key);
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
      folders: () => {
        throw new Error("no part of the protocol");
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
  // There are only so many lost replies: one may take the last from the other.
  if (a.isLost && b.isLost) return false;
  if (!a.isWrite && !b.isWrite) return true;
  if (a.op === "list") return !b.key.startsWith(a.key);
  if (b.op === "list") return !a.key.startsWith(b.key);
  return a.key !== b.key;
}

/** The position of a log record by its key; 0 for any other object. */
function positionOf(key: string): number {
  return Number(/\/log\/(\d+)\.json$/.exec(key)?.[1] ?? 0);
}

const digests = new WeakMap<Uint8Array, string>();

function digest(bytes: Uint8Array): string {
  let sum = digests.get(bytes);
  if (sum === undefined) {
    sum = createHash("sha1").update(bytes).digest("hex").slice(0, 16);
    digests.set(bytes, sum);
  }
  return sum;
}
