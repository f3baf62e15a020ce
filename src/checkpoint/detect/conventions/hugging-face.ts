import { isTemporaryName } from "../names.ts";
import { entriesOf, folderOf, nameOf, type Tree, treeOf } from "../tree.ts";
import type { Candidate, Convention, ReadSmall, ScanEntry } from "../types.ts";

const folderName = /^checkpoint-(\d+)$/;
const marker = "trainer_state.json";
const sentinel = "checkpoint-is-incomplete.txt";

/** Only the Trainer writes these. */
const trainersOwn =
  /^(?:trainer_state\.json|training_args\.bin|checkpoint-is-incomplete\.txt|rng_state(?:_\d+)?\.pth|optimizer\.pt|scheduler\.pt|scaler\.pt|global_step\d+|pytorch_model_fsdp_\d+|optimizer_\d+)$/;
/** What `save_pretrained` writes, which is how a Trainer checkpoint begins. */
const savePretrained =
  /\.(?:json|safetensors|txt|model|md|jinja|tiktoken)$|^pytorch_model.*\.bin$|^adapter_model\.bin$/;
/** Written before the marker by the Trainer itself: newer ones mean that the folder is being written again. */
const beforeMarker =
  /^(?:model.*\.safetensors(?:\.index\.json)?|pytorch_model.*\.bin(?:\.index\.json)?|optimizer\.pt|scheduler\.pt|scaler\.pt|training_args\.bin|rng_state\.pth|config\.json)$/;
const rankFile = /^rng_state_(\d+)\.pth$/;

/** Callbacks may add files after the marker, but not this much later. */
const lateAdditionMs = 60_000;

/** Hugging Face Trainer: `checkpoint-<step>/`, whose `trainer_state.json` is written last. */
export const huggingFace: Convention = {
  name: "hugging-face",
  async find(scan, read) {
    const tree = treeOf(scan);
    const found: Candidate[] = [];
    const folders = tree.folders.filter((path) => folderName.test(nameOf(path)));
    const mostRanks = Math.max(0, ...folders.map((folder) => rankCount(tree.children(folder))));
    for (const folder of folders) {
      const files = tree.children(folder);
      // Beside finished Trainer checkpoints, whatever has such a name is one too, or the beginning of one.
      const hasFinishedSibling = folders.some(
        (other) => folderOf(other) === folderOf(folder) && tree.child(other, marker),
      );
      const isTrainers =
        files.length === 0 || hasFinishedSibling || files.some(({ path }) => trainersOwn.test(nameOf(path)));
      const isBeginning = tree
        .below(folder)
        .every(({ path, type }) => type === "directory" || savePretrained.test(nameOf(path)) || isTemporaryName(path));
      // Other programs use such names too: diffusers' scripts, people's own loops.
      if (files.some(({ path }) => /^random_states_\d+\.pkl$/.test(nameOf(path)))) continue;
      if (!isTrainers && !isBeginning) continue;
      found.push({
        convention: "hugging-face",
        path: folder,
        step: Number(folderName.exec(nameOf(folder))?.[1]),
        entries: entriesOf(scan, folder),
        markers: tree.child(folder, marker) ? [`${folder}/${marker}`] : [],
        pointers: [],
        sentinel: `${folder}/${sentinel}`,
        ...(await judge(tree, folder, files, mostRanks, isTrainers, read)),
      });
    }
    return found;
  },
};

async function judge(
  tree: Tree,
  folder: string,
  files: readonly ScanEntry[],
  mostRanks: number,
  isTrainers: boolean,
  read: ReadSmall | undefined,
): Promise<Pick<Candidate, "state" | "why" | "ambiguous">> {
  const incomplete = (why: string) => ({ state: "incomplete" as const, why });
  if (tree.child(folder, sentinel)) return incomplete(`${sentinel} is there`);
  const temporary = files.find(({ path }) => isTemporaryName(path));
  if (temporary) return incomplete(`${nameOf(temporary.path)} has a temporary name`);
  const state = tree.child(folder, marker);
  if (!state) {
    return isTrainers || files.length === 0
      ? incomplete(`${marker} is not there yet`)
      : {
          state: "unmarked",
          ambiguous: true,
          why: `no ${marker}: weights alone, or the beginning of a Trainer checkpoint`,
        };
  }
  const newer = files.filter(({ mtimeMs, path }) => mtimeMs > state.mtimeMs && path !== state.path);
  const again = newer.find(
    ({ path, mtimeMs }) => beforeMarker.test(nameOf(path)) || mtimeMs > state.mtimeMs + lateAdditionMs,
  );
  if (again) return incomplete(`${nameOf(again.path)} is newer than ${marker}: the folder is being written again`);
  const missing = read && (await missingShard(tree, folder, files, read));
  if (missing) return incomplete(missing);
  const ranks = rankCount(files);
  const numbers = files.flatMap(({ path }) => rankFile.exec(nameOf(path))?.[1] ?? []).map(Number);
  if (numbers.length > 0 && Math.max(...numbers) + 1 !== ranks) {
    return incomplete(`rng_state files of ${ranks} ranks, but the highest is ${Math.max(...numbers)}`);
  }
  if (newer.some(({ path }) => !rankFile.test(nameOf(path)))) {
    return { state: "unmarked", why: `files were added after ${marker}` };
  }
  if (ranks < mostRanks) {
    return { state: "unmarked", why: `${ranks} rng_state files, where another checkpoint has ${mostRanks}` };
  }
  return { state: "marked", why: `${marker} is there` };
}

async function missingShard(
  tree: Tree,
  folder: string,
  files: readonly ScanEntry[],
  read: ReadSmall,
): Promise<string | undefined> {
  for (const { path, size } of files.filter(({ path }) => path.endsWith(".index.json"))) {
    const bytes = await read(path, { limit: size });
    const shards = bytes && shardNames(bytes);
    if (!shards) return `${nameOf(path)} does not parse`;
    const missing = shards.find((shard) => !tree.child(folder, shard));
    if (missing !== undefined) return `${missing} of ${nameOf(path)} is missing`;
  }
  return undefined;
}

function shardNames(bytes: Uint8Array): readonly string[] | undefined {
  try {
    const index = JSON.parse(Buffer.from(bytes).toString("utf8")) as { weight_map?: Record<string, string> };
    return [...new Set(Object.values(index.weight_map ?? {}))];
  } catch {
    // Cut or not an index: the caller calls it incomplete.
    return undefined;
  }
}

function rankCount(files: readonly ScanEntry[]): number {
  return files.filter(({ path }) => rankFile.test(nameOf(path))).length;
}
