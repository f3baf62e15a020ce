import { encodeRecord, type RecordBody } from "../../src/checkpoint/log/record.ts";
import { applyRecord } from "../../src/checkpoint/log/rules.ts";
import { RunLog } from "../../src/checkpoint/log/run-log.ts";
import { emptyState } from "../../src/checkpoint/log/state.ts";
import { openRun } from "../../src/checkpoint/run-store.ts";
import { OutlastError, systemClock } from "../../src/core/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import type { BenchCase } from "../case.ts";

const length = 1_000_000;
const bar = 60;

/** Finding the head of a log of a million records without a hint; the peer lists it, a thousand names a request as object stores do. */
export const benchCase: BenchCase = {
  name: "log-head",
  async run() {
    let requests = 0;
    const store = longLog(() => {
      requests += 1;
    });
    const head = await new RunLog(openRun(store, "r"), { clock: systemClock, useHint: true }).head();
    if (head?.n !== length) throw new Error(`found record ${head?.n} instead of ${length}`);
    return [
      {
        name: "head of 1,000,000 records",
        ours: `${requests} requests`,
        peer: `${length / 1000} requests (list)`,
        result: `${requests}`,
        bar: `≤ ${bar}`,
        isMet: requests <= bar,
      },
    ];
  },
};

/** A store that holds that many records, made when they are asked for. */
function longLog(onGet: () => void): ObjectStore {
  const body: RecordBody = { kind: "epoch", shard: 0, of: 1, hash: "sha256" };
  const state = applyRecord(emptyState("sha256"), body, { n: 1, at: "" });
  const refuse = () => Promise.reject(new Error("read only"));
  return {
    url: "long:",
    get: (key) => {
      onGet();
      const n = Number(/\/log\/(\d{20})\.json$/.exec(key)?.[1]);
      if (!(n >= 1 && n <= length)) return Promise.reject(new OutlastError("OUTLAST_OBJECT_NOT_FOUND", key));
      return Promise.resolve(encodeRecord({ format: 1, n, id: `id${n}`, at: "", body, state }));
    },
    put: refuse,
    putIfAbsent: refuse,
    delete: refuse,
    list: () => {
      throw new Error("not used");
    },
    folders: () => {
      throw new Error("not used");
    },
  };
}
