import { isTemporaryName } from "../names.ts";
import { stepOfFolder } from "../step.ts";
import { entriesOf, nameOf, treeOf } from "../tree.ts";
import type { Candidate, Convention, ScanEntry } from "../types.ts";

const automaticName = /^checkpoint_\d+$/;
const states = /^random_states_(\d+)\.pkl$/;
const own =
  /^(?:optimizer(?:_\d+)?(?:\.bin)?|scheduler(?:_\d+)?\.bin|sampler(?:_\d+)?\.bin|dl_state_dict.*\.bin|scaler\.pt|pytorch_model_fsdp_\d+)$/;
const weights = /^(?:model.*\.safetensors(?:\.index\.json)?|pytorch_model.*\.bin(?:\.index\.json)?)$/;

/** Accelerate's `save_state`: no marker, but `random_states_<rank>.pkl` is the last of its own files. */
export const accelerate: Convention = {
  name: "accelerate",
  find(scan) {
    const tree = treeOf(scan);
    const found: Candidate[] = [];
    for (const folder of tree.folders) {
      if (folder === "") continue;
      const files = tree.children(folder);
      const names = files.map(({ path }) => nameOf(path));
      const hasStates = names.some((name) => states.test(name));
      const isOwn = names.some((name) => own.test(name)) && names.every((name) => isKnown(name));
      const isBeginning =
        automaticName.test(nameOf(folder)) && names.every((name) => weights.test(name) || isTemporaryName(name));
      if (!hasStates && !isOwn && !isBeginning) continue;
      found.push({
        convention: "accelerate",
        path: folder,
        step: stepOfFolder(nameOf(folder)),
        entries: entriesOf(scan, folder),
        markers: [],
        pointers: [],
        ...judge(files, hasStates),
      });
    }
    return Promise.resolve(found);
  },
};

function isKnown(name: string): boolean {
  return own.test(name) || weights.test(name) || isTemporaryName(name) || /^custom_checkpoint_\d+\.pkl$/.test(name);
}

function judge(files: readonly ScanEntry[], hasStates: boolean): Pick<Candidate, "state" | "why"> {
  const temporary = files.find(({ path }) => isTemporaryName(path));
  if (temporary) return { state: "incomplete", why: `${nameOf(temporary.path)} has a temporary name` };
  if (!hasStates) return { state: "incomplete", why: "random_states_0.pkl is not there yet" };
  const ranks = files.flatMap(({ path }) => states.exec(nameOf(path))?.[1] ?? []).map(Number);
  if (Math.max(...ranks) + 1 !== ranks.length) {
    return {
      state: "incomplete",
      why: `random_states of ${ranks.length} ranks, but the highest is ${Math.max(...ranks)}`,
    };
  }
  const newest = Math.max(...files.filter(({ path }) => states.test(nameOf(path))).map(({ mtimeMs }) => mtimeMs));
  // Written again in place: weights newer than the states that a finished save leaves behind.
  const again = files.find(
    ({ path, mtimeMs }) => mtimeMs > newest && (weights.test(nameOf(path)) || own.test(nameOf(path))),
  );
  if (again)
    return { state: "incomplete", why: `${nameOf(again.path)} is newer than random_states: it is being written again` };
  return { state: "unmarked", why: "every rank's random_states file is there" };
}
