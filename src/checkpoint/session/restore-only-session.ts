import { join } from "node:path";
import { Emitter } from "../../core/index.ts";
import { RunLog } from "../log/run-log.ts";
import { isFinished } from "../log/state.ts";
import { readNewest } from "../read-newest.ts";
import { openRun } from "../run-store.ts";
import type { Beginning, CheckpointSession, FinishReport, Resume, SessionEvents } from "../session-types.ts";
import { restoreCommit } from "./restore-commit.ts";
import type { SessionOptions } from "./session-options.ts";
import { WorkingDirectory } from "./working-directory.ts";

/** A start that restores the newest checkpoint and saves nothing: it writes nothing to the store and is never overtaken. */
export class RestoreOnlySession implements CheckpointSession {
  readonly events: Emitter<SessionEvents> = new Emitter();
  readonly #options: SessionOptions;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  async begin(signal?: AbortSignal): Promise<Beginning> {
    const { store, run: name, dir, clock, transfer, shard = 0, of = 1, again = false } = this.#options;
    const started = clock.monotonic();
    const run = openRun(store, name);
    const log = new RunLog(run, { clock });
    const place = await WorkingDirectory.open(this.#options, (message) =>
      this.events.emit("session:warning", { message }),
    );
    const head = await log.head(signal);
    if (head && isFinished(head.state) && !again) return { kind: "already-finished" };
    await place.undoRestoring();
    let resume: Resume | undefined;
    if (head && head.state.committed > 0) {
      const onDamaged = ({ step }: { step: number }, { message }: Error) =>
        this.events.emit("session:damaged", { step, why: message });
      resume = await readNewest(
        run,
        log,
        { onDamaged },
        async (commit, state) => {
          const { step } = commit;
          const restored = await restoreCommit(
            {
              run,
              transfer,
              dir,
              own: place.own,
              shard: commit.manifests.length === 1 ? 0 : shard,
              of: commit.manifests.length === 1 ? 1 : of,
              epoch: head.n,
              clear: (path, isInPlace) => place.clear({ step, path }, head.n, !isInPlace),
              onProgress: (progress) => this.events.emit("session:progress", { what: "restoring", step, ...progress }),
            },
            commit,
            state,
            signal,
          );
          const { bytes, fetchedBytes } = restored;
          this.events.emit("session:restored", { step, bytes, fetchedBytes, ms: clock.monotonic() - started });
          return { step, path: join(dir, restored.manifests[0]?.path ?? "") };
        },
        signal,
      );
    }
    return { kind: "start", epoch: head?.n ?? 0, attempt: 1, resume, restoreMs: clock.monotonic() - started };
  }

  watch(): void {}

  childSaved(): void {}

  noticed(): Promise<void> {
    return Promise.resolve();
  }

  predictedFlushMs(): number {
    return 0;
  }

  saveIntervalMs(): undefined {
    return undefined;
  }

  finish(): Promise<FinishReport> {
    return Promise.resolve({ committedStep: undefined, lostStep: undefined });
  }

  complete(): Promise<"all-done"> {
    return Promise.resolve("all-done");
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
