import { assertNever } from "../../core/index.ts";
import type { RecordBody } from "./record.ts";
import { type CommitState, emptyState, isFinished, type LogState, targetOf } from "./state.ts";

/** A record that the rules do not allow at this position. A decision made on the state before never meets it. */
export class RuleBroken extends Error {
  override readonly name = "RuleBroken";
}

/** What distinguishes a record besides its body. */
export interface Stamp {
  readonly n: number;
  readonly at: string;
}

/**
 * The state after a record: the whole protocol in one pure function. `state` is that of the position before (undefined at
 * the first). Throws {@link RuleBroken} if the record may not stand there, so that nothing invalid is ever appended: a record is
 * judged at its own position only, and later ones do not undo it.
 */
export function applyRecord(state: LogState | undefined, body: RecordBody, stamp: Stamp): LogState {
  if (body.kind === "epoch") return applyEpoch(state, body, stamp);
  if (!state) throw new RuleBroken("the first record must be an epoch");
  switch (body.kind) {
    case "ready":
      return applyReady(state, body, stamp);
    case "damaged":
      return formGang(applyDamaged(state, body), stamp);
    case "commit":
      return applyCommit(state, body, stamp);
    case "done":
      return applyDone(state, body);
    case "pin":
      return { ...state, commits: replaceCommit(state, body.commit, (commit) => ({ ...commit, pinned: body.pinned })) };
    case "drop":
      return applyDrop(state, body);
    default:
      return assertNever(body);
  }
}

type Body<Kind extends RecordBody["kind"]> = Extract<RecordBody, { kind: Kind }>;

function applyEpoch(before: LogState | undefined, body: Body<"epoch">, stamp: Stamp): LogState {
  if (!before && !body.hash) throw new RuleBroken("the first record must fix the hash");
  const state = before ?? emptyState(body.hash ?? "sha256");
  if (
    !Number.isInteger(body.of) ||
    body.of < 1 ||
    !Number.isInteger(body.shard) ||
    body.shard < 0 ||
    body.shard >= body.of
  ) {
    throw new RuleBroken(`shard ${body.shard} of ${body.of} cannot be`);
  }
  if (isFinished(state) && !body.again) throw new RuleBroken("the run is finished");
  // Ending a gang ends every epoch in it. Otherwise one dead member's replacement and the survivors' old readiness would make
  // a new gang, which the survivors' own replacements end, for ever.
  const endsAll = state.gang !== null || state.of !== body.of;
  const others = endsAll ? [] : state.epochs.filter((entry) => entry.shard !== body.shard);
  const epochs = [...others, { shard: body.shard, epoch: stamp.n, ready: null }].toSorted((a, b) => a.shard - b.shard);
  const starts = Array.from({ length: Math.max(body.of, state.starts.length) }, (_, shard) => {
    return (state.starts[shard] ?? 0) + (shard === body.shard ? 1 : 0);
  });
  return { ...state, of: body.of, epochs, gang: body.of === 1 ? stamp.n : null, gangStep: null, done: [], starts };
}

function applyReady(state: LogState, body: Body<"ready">, stamp: Stamp): LogState {
  requireCurrent(state, body.epoch);
  if (state.gang !== null) throw new RuleBroken("the gang is formed");
  const target = targetOf(state)?.at ?? 0;
  if (body.target !== target) throw new RuleBroken(`the target is ${target}, not ${body.target}`);
  const epochs = state.epochs.map((entry) => (entry.epoch === body.epoch ? { ...entry, ready: body.target } : entry));
  return formGang({ ...state, epochs }, stamp);
}

/** The record that makes all current epochs ready on the target is the gang. */
function formGang(state: LogState, stamp: Stamp): LogState {
  const target = targetOf(state)?.at ?? 0;
  const isWhole = state.epochs.length === state.of && state.epochs.every((entry) => entry.ready === target);
  return state.gang === null && isWhole ? { ...state, gang: stamp.n } : state;
}

function applyDamaged(state: LogState, body: Body<"damaged">): LogState {
  requireCurrent(state, body.epoch);
  return { ...state, commits: replaceCommit(state, body.commit, (commit) => ({ ...commit, damaged: true })) };
}

function applyCommit(state: LogState, body: Body<"commit">, stamp: Stamp): LogState {
  requireCurrent(state, body.epoch);
  if (state.gang === null || body.gang !== state.gang) throw new RuleBroken(`gang ${body.gang} is not current`);
  // Rising order: an older step that waited behind a newer one would retire it.
  if (state.gangStep !== null && body.step <= state.gangStep)
    throw new RuleBroken(`step ${body.step} is not above ${state.gangStep}`);
  if (!Number.isSafeInteger(body.step) || body.step < 0) throw new RuleBroken(`step ${body.step} cannot be`);
  if (body.manifests.length !== state.of || body.manifests.some((manifest, shard) => manifest.shard !== shard)) {
    throw new RuleBroken(`a commit needs ${state.of} manifests, one a shard`);
  }
  for (const position of body.reuses) {
    const source = state.commits.find((commit) => commit.at === position);
    if (!source || source.damaged) throw new RuleBroken(`reused commit ${position} is not live and whole`);
  }
  const earlier = state.commits.map((commit) => (commit.step >= body.step ? { ...commit, retired: true } : commit));
  const commit: CommitState = {
    at: stamp.n,
    step: body.step,
    gang: body.gang,
    epoch: body.epoch,
    manifests: body.manifests,
    bytes: body.bytes,
    files: body.files,
    committedAt: stamp.at,
    savedAt: body.savedAt,
    retired: false,
    damaged: false,
    pinned: false,
  };
  return { ...state, gangStep: body.step, commits: [...earlier, commit], committed: state.committed + 1 };
}

function applyDone(state: LogState, body: Body<"done">): LogState {
  const entry = requireCurrent(state, body.epoch);
  if (state.gang === null || body.gang !== state.gang) throw new RuleBroken(`gang ${body.gang} is not current`);
  const done = state.done.includes(entry.shard) ? state.done : [...state.done, entry.shard].toSorted((a, b) => a - b);
  return { ...state, done };
}

function applyDrop(state: LogState, body: Body<"drop">): LogState {
  const dropped = new Set(body.commits);
  for (const position of dropped) {
    const commit = state.commits.find((entry) => entry.at === position);
    if (!commit) throw new RuleBroken(`commit ${position} is not live`);
    if (commit.pinned) throw new RuleBroken(`commit ${position} is pinned`);
  }
  const commits = state.commits.filter((commit) => !dropped.has(commit.at));
  const gone = state.commits.filter((commit) => dropped.has(commit.at));
  const isWhole = (commit: CommitState) => !commit.damaged;
  const isGood = (commit: CommitState) => !commit.damaged && !commit.retired;
  // Two whole ones stay, even if one is retired: an abandoned branch is better than nothing when the other turns out bad.
  if (gone.some(isWhole) && commits.filter(isWhole).length < 2)
    throw new RuleBroken("fewer than two whole commits would be left");
  if (gone.some(isGood) && commits.filter(isGood).length < 2)
    throw new RuleBroken("fewer than two good commits would be left");
  if (!commits.some(isWhole)) throw new RuleBroken("no whole commit would be left");
  return { ...state, commits };
}

function requireCurrent(state: LogState, epoch: number): LogState["epochs"][number] {
  const entry = state.epochs.find((candidate) => candidate.epoch === epoch);
  if (!entry) throw new RuleBroken(`epoch ${epoch} is not current`);
  return entry;
}

function replaceCommit(
  state: LogState,
  position: number,
  change: (commit: CommitState) => CommitState,
): readonly CommitState[] {
  if (!state.commits.some((commit) => commit.at === position)) throw new RuleBroken(`commit ${position} is not live`);
  return state.commits.map((commit) => (commit.at === position ? change(commit) : commit));
}
