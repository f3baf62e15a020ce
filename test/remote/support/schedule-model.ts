import { isOutlastError } from "../../../src/core/index.ts";
import { hashTree, type Tree } from "./saved-tree.ts";

/** One save of the program. */
interface Save {
  readonly step: number;
  readonly hash: string;
}

/** A commit that a session reported. */
export interface ReportedCommit {
  readonly epoch: number;
  readonly step: number;
}

/** What may be restored, judged by what was saved and what was reported; saves are numbered in the order they were made. */
export class ScheduleModel {
  readonly reported: ReportedCommit[] = [];
  readonly #saves: Save[] = [];
  readonly #numbers = new Map<string, number>();
  /** No restore may give an older save than this. */
  #floor = -1;

  saved(step: number, tree: Tree): void {
    const hash = hashTree(tree);
    this.#numbers.set(hash, this.#saves.length);
    this.#saves.push({ step, hash });
  }

  /** A session said that the newest save of this step is committed. */
  committed(epoch: number, step: number): void {
    this.reported.push({ epoch, step });
    const number = this.#saves.findLastIndex((save) => save.step === step);
    if (number < 0) throw new Error(`step ${step} was reported committed but never saved`);
    this.#floor = Math.max(this.#floor, number);
  }

  /** Something was restored; `isStored` when it cannot have come from a local leftover. */
  restored(restored: { readonly step: number; readonly tree: Tree } | undefined, isStored: boolean): void {
    const least = this.#saves[this.#floor];
    if (!restored) {
      if (least) throw new Error(`lost: nothing was restored, but step ${least.step} was committed`);
      return;
    }
    const number = this.#numbers.get(hashTree(restored.tree));
    const names = [...restored.tree].map(([path, bytes]) => `${path} (${bytes.length})`).join(", ");
    if (number === undefined)
      throw new Error(`torn: what was restored as step ${restored.step} was never saved: ${names}`);
    if (this.#saves[number]?.step !== restored.step)
      throw new Error(`torn: step ${this.#saves[number]?.step} was restored as step ${restored.step}`);
    if (number < this.#floor)
      throw new Error(
        `lost: save ${number} (step ${restored.step}) was restored, but save ${this.#floor} was committed`,
      );
    if (isStored) this.#floor = number;
  }
}

/** Codes that a network alone must never lead to: they say that stored data is gone or wrong. */
const condemning = [
  "OUTLAST_NO_GOOD_CHECKPOINT",
  "OUTLAST_LOG_LOST",
  "OUTLAST_LOG_INVALID",
  "OUTLAST_MANIFEST_INVALID",
  "OUTLAST_CHECKPOINT_DAMAGED",
  "OUTLAST_USAGE",
  "OUTLAST_STORE_UNSUITABLE",
] as const;

/** Checks that a failure is one that a bad network may cause. */
export function checkFailure(error: unknown): void {
  if (!isOutlastError(error)) throw new Error("a failure that is not an OutlastError", { cause: error });
  if (isOutlastError(error, ...condemning))
    throw new Error(`the network was taken for damage: ${error.code} ${error.message}`, { cause: error });
}
