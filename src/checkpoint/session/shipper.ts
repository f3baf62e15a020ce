import { type Clock, type Deadline, type Emitter, isOutlastError } from "../../core/index.ts";
import type { CompleteCheckpoint } from "../detect/index.ts";
import { takeSnapshot } from "../local/snapshot.ts";
import type { CommitState } from "../log/state.ts";
import type { Manifest } from "../manifest.ts";
import type { SessionEvents } from "../session-types.ts";
import { type ShipContext, shipFiles } from "../ship/ship-files.ts";
import { saveCost } from "./save-cost.ts";
import type { ShipRate } from "./ship-rate.ts";
import type { WorkingDirectory } from "./working-directory.ts";

export interface ShipperOptions {
  readonly context: ShipContext;
  readonly place: Pick<WorkingDirectory, "dir" | "own" | "detector">;
  readonly events: Emitter<SessionEvents>;
  readonly rate: ShipRate;
  readonly clock: Clock;
  /** The step to commit a checkpoint under; undefined when none above the committed ones can be given. */
  readonly stepOf: (checkpoint: CompleteCheckpoint) => number | undefined;
  readonly onCommitted: (commit: CommitState, manifest: Manifest) => void;
}

/** How a shipment ended: `done` is never tried again; after `changed` look again at once, after `failed` in a while. */
export type ShipEnd = "done" | "changed" | "failed";

/** The shipment under way. */
interface Current {
  readonly checkpoint: CompleteCheckpoint;
  readonly abort: AbortController;
  readonly promise: Promise<ShipEnd>;
  /** Acknowledged so far. */
  bytes: number;
  /** From when on its speed is measured, and what was acknowledged by then. */
  since: { readonly ms: number; readonly bytes: number };
}

/** Ships one checkpoint at a time. */
export class Shipper {
  readonly #options: ShipperOptions;
  #current: Current | undefined;

  constructor(options: ShipperOptions) {
    this.#options = options;
  }

  get current(): CompleteCheckpoint | undefined {
    return this.#current?.checkpoint;
  }

  /** Milliseconds until the shipment under way should be committed; 0 when there is none. */
  remainingMs(): number {
    const current = this.#current;
    if (!current) return 0;
    const { rate, clock } = this.#options;
    const left = sizeOf(current.checkpoint) - current.bytes;
    rate.observe(current.bytes - current.since.bytes, left, clock.monotonic() - current.since.ms);
    return rate.predictMs(Math.max(1, left));
  }

  /** Nothing holds the shipment under way back any longer: its speed so far no longer counts. */
  hurry(): void {
    const current = this.#current;
    if (current) current.since = { ms: this.#options.clock.monotonic(), bytes: current.bytes };
  }

  /** Ships a checkpoint; only when nothing else is under way. */
  ship(
    checkpoint: CompleteCheckpoint,
    options: { readonly deadline?: Deadline | undefined; readonly background?: boolean },
  ): Promise<ShipEnd> {
    const abort = new AbortController();
    const signal = options.deadline ? options.deadline.signal(abort.signal) : abort.signal;
    const promise = this.#run(checkpoint, options.background ?? false, signal);
    const since = { ms: this.#options.clock.monotonic(), bytes: 0 };
    const current: Current = { checkpoint, abort, bytes: 0, since, promise };
    this.#current = current;
    return current.promise;
  }

  /** Resolves when nothing is under way; cuts it short when asked to. */
  async settle(options: { readonly abort: boolean; readonly deadline?: Deadline | undefined }): Promise<void> {
    const current = this.#current;
    if (!current) return;
    if (options.abort) current.abort.abort();
    const stop = () => current.abort.abort();
    const timeUp = options.deadline?.signal();
    timeUp?.addEventListener("abort", stop, { once: true });
    await current.promise;
    timeUp?.removeEventListener("abort", stop);
  }

  async #run(checkpoint: CompleteCheckpoint, background: boolean, signal: AbortSignal): Promise<ShipEnd> {
    // After #current is set, so that progress finds it.
    await Promise.resolve();
    try {
      return await this.#shipSnapshot(checkpoint, background, signal);
    } catch (error) {
      return this.#failed(checkpoint, error, signal);
    } finally {
      this.#current = undefined;
      this.#options.rate.forget();
    }
  }

  async #shipSnapshot(checkpoint: CompleteCheckpoint, background: boolean, signal: AbortSignal): Promise<ShipEnd> {
    const { context, place, events, rate, clock } = this.#options;
    const step = this.#options.stepOf(checkpoint);
    if (step === undefined) {
      events.emit("session:skipped", { step: checkpoint.step ?? 0, why: "a newer step is committed already" });
      return "done";
    }
    const started = clock.monotonic();
    const snapshot = await takeSnapshot(place.dir, place.own, checkpoint);
    try {
      // Files that came or went between the look and the snapshot.
      if (!(await place.detector.recheck(checkpoint))) return "changed";
      for (const path of snapshot.leftOut) {
        events.emit("session:warning", { message: `${path} links out of the checkpoint directory and is not shipped` });
      }
      const outcome = await shipFiles(
        context,
        {
          step,
          convention: checkpoint.convention,
          path: checkpoint.path,
          files: snapshot.files,
          entries: snapshot.entries,
          last: snapshot.last,
          savedAt: snapshot.savedAt,
          saveMs: saveCost(checkpoint),
          background,
          onProgress: ({ bytes, totalBytes }) => {
            if (this.#current) this.#current.bytes = bytes;
            events.emit("session:progress", { what: "shipping", step, bytes, totalBytes });
          },
        },
        signal,
      );
      if (outcome.kind === "older")
        events.emit("session:skipped", { step, why: "a newer step was committed meanwhile" });
      if (outcome.kind === "reuse-lost")
        events.emit("session:skipped", { step, why: "a checkpoint it shares data with was dropped" });
      if (outcome.kind !== "committed") return "done";
      const shipMs = clock.monotonic() - started;
      rate.add(outcome.manifest.bytes, shipMs);
      events.emit("session:committed", {
        step,
        bytes: outcome.manifest.bytes,
        sentBytes: outcome.sentBytes,
        lagMs: Math.max(0, clock.now() - Date.parse(snapshot.savedAt)),
        shipMs,
      });
      this.#options.onCommitted(outcome.commit, outcome.manifest);
      return "done";
    } finally {
      await snapshot.remove();
    }
  }

  #failed(checkpoint: CompleteCheckpoint, error: unknown, signal: AbortSignal): ShipEnd {
    const { events } = this.#options;
    if (signal.aborted) return "failed";
    if (isOutlastError(error, "OUTLAST_SUPERSEDED", "OUTLAST_GANG_ENDED")) {
      const reason = error.code === "OUTLAST_SUPERSEDED" ? "superseded" : "gang-ended";
      events.emit("session:ended", { reason, message: error.message });
      return "done";
    }
    // Rotation or overwriting by the program is normal: the detector finds what is there now.
    if (isOutlastError(error, "OUTLAST_SOURCE_CHANGED")) return "changed";
    events.emit("session:warning", {
      message: `${checkpoint.path || "the checkpoint"} could not be shipped; it is tried again`,
      error,
    });
    return "failed";
  }
}

/** Bytes of a checkpoint's files. */
export function sizeOf(checkpoint: CompleteCheckpoint): number {
  return checkpoint.entries.reduce((sum, entry) => sum + (entry.type === "file" ? entry.size : 0), 0);
}
