import { commitManifest } from "../commit.ts";
import type { HashName } from "../hash.ts";
import type { RunLog } from "../log/run-log.ts";
import { type CommitState, commitAt, type ManifestRef } from "../log/state.ts";
import type { Manifest } from "../manifest.ts";
import { getManifest, putManifest } from "../manifest-codec.ts";
import { isDamage } from "../read-newest.ts";
import type { RunStore } from "../run-store.ts";
import type { ReuseBook } from "../ship/reuse-book.ts";
import { requireTenure, type Tenure } from "../tenure.ts";
import { copyChunks, SourceDamage } from "./copy-chunks.ts";
import { readRecord } from "./former-copies.ts";

/** What all checkpoints of one copy share. */
export interface CopyContext {
  readonly source: RunStore;
  readonly sourceLog: RunLog;
  readonly hash: HashName;
  readonly target: RunStore;
  readonly log: RunLog;
  /** The target's chunks that this copy itself has put there and committed. */
  readonly book: ReuseBook;
  /** A number no other shipment of this copy has. */
  readonly nextShipment: () => number;
  /** Shipments (`<epoch>-<number>`) that will never be committed. */
  readonly abandoned: Set<string>;
  readonly onChunk: (size: number, sent: number) => void;
  readonly signal: AbortSignal | undefined;
}

/** Why a checkpoint was passed over: the source no longer holds it, or not whole. */
export type PassedOver =
  | { readonly reason: "dropped meanwhile" }
  | { readonly reason: "damaged"; readonly why: string };

/** Copies one checkpoint: the chunks of all its shards, then their manifests, then the commit. */
export async function copyCommit(
  context: CopyContext,
  crew: readonly Tenure[],
  commit: CommitState,
): Promise<"copied" | PassedOver> {
  try {
    const originals = await readManifests(context, commit);
    // Without reuse the second time: what was to be reused went away meanwhile.
    if (await shipCopy(context, crew, commit, originals, true)) return "copied";
    if (await shipCopy(context, crew, commit, originals, false)) return "copied";
    throw new Error(`step ${commit.step} of run ${context.target.run} could not be committed`);
  } catch (error) {
    if (!(error instanceof SourceDamage)) throw error;
    // The source may be pruned while it is read: what it dropped is no damage.
    const now = await context.sourceLog.head(context.signal);
    const isLive = now !== undefined && commitAt(now.state, commit.at) !== undefined;
    return isLive ? { reason: "damaged", why: error.message } : { reason: "dropped meanwhile" };
  }
}

async function readManifests({ source, hash, signal }: CopyContext, commit: CommitState): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const ref of commit.manifests) {
    try {
      manifests.push(await getManifest(source, ref, hash, signal));
    } catch (error) {
      throw isDamage(error) ? new SourceDamage(error.message, { cause: error }) : error;
    }
  }
  return manifests;
}

/** False when a commit whose chunks were reused is no longer live. */
async function shipCopy(
  context: CopyContext,
  crew: readonly Tenure[],
  commit: CommitState,
  originals: readonly Manifest[],
  mayReuse: boolean,
): Promise<boolean> {
  const { target, log, book, abandoned, signal } = context;
  const [first] = crew;
  if (!first || crew.length !== originals.length) throw new Error("a commit needs one tenure a shard");
  const shipment = context.nextShipment();
  const owners = crew.map(({ epoch }) => `${epoch}-${shipment}`);
  const { id } = await readRecord(context.source, commit.at, signal);
  const copiedFrom = { run: context.source.run, at: commit.at, id };
  const stored: { manifest: Manifest; ref: ManifestRef }[] = [];
  try {
    const prepared: Manifest[] = [];
    for (const [shard, tenure] of crew.entries()) {
      const original = originals[shard] as Manifest;
      const reusable = mayReuse ? book.reusable(requireTenure(log.seen, target.run, tenure)) : new Map();
      const chunks = await copyChunks({ ...context, manifest: original, owner: owners[shard] as string, reusable });
      const { gang, epoch } = tenure;
      prepared.push({ ...original, run: target.run, gang, epoch, shipment, chunks, copiedFrom });
    }
    for (const manifest of prepared) stored.push({ manifest, ref: await putManifest(target, manifest, signal) });
  } catch (error) {
    for (const owner of owners) abandoned.add(owner);
    throw error;
  }
  const outcome = await commitManifest(target, log, first, stored[0] as (typeof stored)[number], signal);
  if (outcome.kind === "committed") {
    book.add(
      outcome.commit.at,
      stored.map(({ manifest }) => manifest),
    );
    await copyPin(context, commit, outcome.commit.at);
    return true;
  }
  for (const owner of owners) abandoned.add(owner);
  return false;
}

/** A pinned checkpoint is pinned in the copy, at this position there, too. */
export async function copyPin({ log, signal }: CopyContext, original: CommitState, position: number): Promise<void> {
  if (!original.pinned) return;
  await log.append<undefined>((head) => {
    const commit = head && commitAt(head.state, position);
    if (!commit || commit.pinned) return { result: undefined };
    return { append: { kind: "pin", commit: position, pinned: true } };
  }, signal);
}
