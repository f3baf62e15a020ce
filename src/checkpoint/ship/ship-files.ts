import { type CommitOutcome, commitManifest } from "../commit.ts";
import type { RunLog } from "../log/run-log.ts";
import type { CommitState } from "../log/state.ts";
import type { Manifest, ManifestEntry } from "../manifest.ts";
import { putManifest } from "../manifest-codec.ts";
import type { RunStore } from "../run-store.ts";
import { requireTenure, type Tenure } from "../tenure.ts";
import type { SourceFile, Transfer, TransferProgress } from "../transfer/types.ts";
import type { ReuseBook } from "./reuse-book.ts";

/** What every shipment of a start shares. */
export interface ShipContext {
  readonly run: RunStore;
  readonly log: RunLog;
  readonly tenure: Tenure;
  readonly transfer: Transfer;
  readonly book: ReuseBook;
  /** A number no other shipment of this epoch has. */
  readonly nextShipment: () => number;
  /** Told of shipments that ended without a commit, so that their chunks can be collected. */
  readonly onAbandoned?: ((owner: string) => void) | undefined;
}

/** One checkpoint, ready to be read. */
export interface Shipment {
  readonly step: number;
  readonly convention: string;
  readonly path: string;
  readonly files: readonly SourceFile[];
  /** Folders and links. */
  readonly entries: readonly ManifestEntry[];
  readonly last: readonly string[];
  readonly savedAt: string;
  readonly saveMs?: number | undefined;
  /** Beside a running program: at low priority. @default false */
  readonly background?: boolean;
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined;
}

export type ShipOutcome =
  | {
      readonly kind: "committed";
      readonly commit: CommitState;
      readonly manifest: Manifest;
      readonly sentBytes: number;
    }
  | { readonly kind: "waiting"; readonly manifest: Manifest; readonly sentBytes: number }
  | { readonly kind: "older" }
  | { readonly kind: "reuse-lost" };

/**
 * Sends a checkpoint's bytes, then its manifest, then commits it, in this order: a reader is led only to what is stored whole. If a
 * commit whose chunks were reused went away meanwhile, everything is sent once more under keys of its own.
 */
export async function shipFiles(context: ShipContext, shipment: Shipment, signal?: AbortSignal): Promise<ShipOutcome> {
  const outcome = await shipOnce(context, shipment, true, signal);
  // With several shards another shard's manifest may be the one that lost its source; the step is skipped then.
  if (outcome.kind !== "reuse-lost" || context.tenure.of > 1) return outcome;
  return shipOnce(context, shipment, false, signal);
}

async function shipOnce(
  context: ShipContext,
  shipment: Shipment,
  mayReuse: boolean,
  signal: AbortSignal | undefined,
): Promise<ShipOutcome> {
  const { run, log, tenure, transfer, book } = context;
  const state = requireTenure(log.seen, run.run, tenure);
  const number = context.nextShipment();
  const owner = `${tenure.epoch}-${number}`;
  let isManifestOut = false;
  try {
    const sent = await transfer.send({
      store: run.store,
      prefix: run.prefix,
      hash: state.hash,
      owner,
      files: shipment.files,
      reusable: mayReuse ? book.reusable(state) : new Map(),
      background: shipment.background ?? false,
      signal,
      onProgress: shipment.onProgress,
    });
    const manifest: Manifest = {
      format: 1,
      run: run.run,
      step: shipment.step,
      shard: tenure.shard,
      of: tenure.of,
      gang: tenure.gang,
      epoch: tenure.epoch,
      shipment: number,
      convention: shipment.convention,
      path: shipment.path,
      hash: state.hash,
      chunks: sent.chunks,
      entries: [...shipment.entries, ...sent.entries].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      last: shipment.last,
      bytes: sent.bytes,
      savedAt: shipment.savedAt,
      ...(shipment.saveMs === undefined ? {} : { saveMs: shipment.saveMs }),
    };
    isManifestOut = true;
    const ref = await putManifest(run, manifest, signal);
    const outcome = await commitManifest(run, log, tenure, { manifest, ref }, signal);
    return withManifest(outcome, manifest, sent.sentBytes, () => {
      // A lone shard's manifest that was refused can never be committed; in a gang another shard may still do so.
      if (tenure.of === 1) context.onAbandoned?.(owner);
    });
  } catch (error) {
    if (!isManifestOut) context.onAbandoned?.(owner);
    throw error;
  }
}

function withManifest(
  outcome: CommitOutcome,
  manifest: Manifest,
  sentBytes: number,
  onRefused: () => void,
): ShipOutcome {
  if (outcome.kind === "committed") return { kind: "committed", commit: outcome.commit, manifest, sentBytes };
  if (outcome.kind === "waiting") return { kind: "waiting", manifest, sentBytes };
  onRefused();
  return { kind: outcome.kind };
}
