import { OutlastError } from "../core/index.ts";
import type { ObjectStore } from "./object-store.ts";

/** One call that reached the store; the first has number 1. */
export interface StoreCall {
  readonly number: number;
  readonly operation: "put" | "putIfAbsent" | "get" | "list" | "folders" | "delete";
  /** Its key or prefix. */
  readonly key: string;
}

/**
 * What to do to a call.
 * - `when`: `before` it is carried out (it then is not), or `after` (it is, but its answer is lost).
 * - `what`: `fail` with a passing error, or `die`: this call and every later one fails for good, as if the process had ended.
 */
export interface Fault {
  readonly when: "before" | "after";
  readonly what: "fail" | "die";
}

/** Decides which calls go wrong. */
export interface FaultPlan {
  readonly decide: (call: StoreCall) => Fault | undefined;
  /** Called on `die`, for tests that really end the process there. */
  readonly die?: () => void;
}

/** A store whose calls can be counted and made to fail. */
export interface FaultyStore extends ObjectStore {
  /** Every call so far, in order. */
  readonly calls: readonly StoreCall[];
  readonly isDead: boolean;
}

/** A plan that makes the k-th call go wrong. */
export function faultAt(number: number, fault: Fault): FaultPlan {
  return { decide: (call) => (call.number === number ? fault : undefined) };
}

/** The same store with faults put in; without a plan it only counts calls. */
export function withFaults(store: ObjectStore, plan: FaultPlan = { decide: () => undefined }): FaultyStore {
  const calls: StoreCall[] = [];
  let isDead = false;

  const begin = (operation: StoreCall["operation"], key: string): StoreCall => {
    const call = { number: calls.length + 1, operation, key };
    if (isDead) throw failure(call, "die");
    calls.push(call);
    return call;
  };
  const apply = (call: StoreCall, fault: Fault | undefined, when: Fault["when"]): void => {
    if (isDead) throw failure(call, "die");
    if (fault?.when !== when) return;
    if (fault.what === "die") {
      isDead = true;
      plan.die?.();
    }
    throw failure(call, fault.what);
  };
  const around = async <T>(operation: StoreCall["operation"], key: string, act: () => Promise<T>): Promise<T> => {
    const call = begin(operation, key);
    const fault = plan.decide(call);
    apply(call, fault, "before");
    let result: T;
    try {
      result = await act();
    } catch (error) {
      // A call that found nothing was carried out too; its answer can be lost like any other.
      apply(call, fault, "after");
      throw error;
    }
    apply(call, fault, "after");
    return result;
  };

  async function* listing<T>(
    operation: "list" | "folders",
    prefix: string,
    entries: AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const call = begin(operation, prefix);
    const fault = plan.decide(call);
    apply(call, fault, "before");
    for await (const entry of entries) {
      if (isDead) throw failure(call, "die");
      yield entry;
    }
    apply(call, fault, "after");
  }

  return {
    url: store.url,
    calls,
    get isDead() {
      return isDead;
    },
    put: (key, body, options) => around("put", key, () => store.put(key, body, options)),
    putIfAbsent: (key, body, options) => around("putIfAbsent", key, () => store.putIfAbsent(key, body, options)),
    get: (key, options) => around("get", key, () => store.get(key, options)),
    delete: (key, options) => around("delete", key, () => store.delete(key, options)),
    list: (prefix, options) => listing("list", prefix, store.list(prefix, options)),
    folders: (prefix, options) => listing("folders", prefix, store.folders(prefix, options)),
  };
}

function failure(call: StoreCall, what: Fault["what"]): OutlastError {
  return new OutlastError("OUTLAST_STORE_UNREACHABLE", `injected fault in call ${call.number}`, {
    operation: call.operation,
    target: call.key,
    recovery: what === "fail" ? "retry" : "give-up",
  });
}
