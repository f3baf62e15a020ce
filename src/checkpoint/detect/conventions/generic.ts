import { isDescriptiveName, isLogName, isTemporaryName } from "../names.ts";
import { without } from "../tree.ts";
import type { Candidate, Convention } from "../types.ts";

/** The rule where nothing is recognised: all of the directory, logs and temporary files aside. */
export function createGeneric(options: { readonly startedAtMs: number }): Convention {
  return {
    name: "generic",
    find(scan) {
      const kept = without(scan, ({ path }) => isLogName(path) || isTemporaryName(path));
      const entries = [...kept.entries.values()];
      const files = entries.filter(({ type }) => type === "file");
      if (!files.some(({ path }) => !isDescriptiveName(path))) return Promise.resolve([]);
      const temporary = [...scan.entries.values()].filter(({ path, type }) => type === "file" && isTemporaryName(path));
      // One from before this start will never be finished; one from now is about to become part of the checkpoint.
      const fresh = temporary.find(({ ctimeMs }) => ctimeMs >= options.startedAtMs);
      const candidate: Candidate = {
        convention: "generic",
        path: "",
        step: undefined,
        entries,
        markers: [],
        pointers: [],
        shrinks: true,
        interrupted: temporary.length > 0,
        ...(fresh
          ? { state: "incomplete", why: `${fresh.path} has a temporary name` }
          : { state: "unmarked", why: "no convention is recognised: all of the directory" }),
      };
      return Promise.resolve([candidate]);
    },
  };
}
