import type { Notice, NoticeSource } from "./types.ts";

/** A source whose notices are given by hand, for tests and drills. */
export interface ManualSource extends NoticeSource {
  /** Delivers a notice; kept until `start` when it comes before. */
  give(notice: Partial<Notice>): void;
}

/** Makes a source that says what it is told to say. */
export function createManualSource(name = "test"): ManualSource {
  const early: Notice[] = [];
  let deliver: ((notice: Notice) => void) | undefined;
  return {
    name,
    give(notice) {
      const whole: Notice = { source: name, kind: "eviction", reason: "given by hand", ...notice };
      if (deliver) deliver(whole);
      else early.push(whole);
    },
    start(onNotice, signal) {
      deliver = (notice) => {
        if (!signal.aborted) onNotice(notice);
      };
      for (const notice of early.splice(0)) deliver(notice);
    },
  };
}
