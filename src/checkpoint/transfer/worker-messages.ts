import type { StoreAddress } from "../../storage/index.ts";
import type { Job, Outcomes, Setup } from "./jobs.ts";
import type { WireError } from "./wire-error.ts";

/** What the main thread tells a worker. */
export type ToWorker =
  | { readonly type: "begin"; readonly id: number; readonly setup: Setup; readonly address: StoreAddress }
  | { readonly type: "job"; readonly id: number; readonly number: number; readonly job: Job }
  | { readonly type: "end"; readonly id: number };

/** What a worker answers: one message for each job, and one for each call that the store sent back for now. */
export type FromWorker =
  | { readonly number: number; readonly outcome: Outcomes[Job["kind"]] }
  | { readonly number: number; readonly error: WireError }
  | { readonly refused: number };

/** What a worker is started with. */
export interface WorkerStart {
  /** Lower this thread's priority, for good: an unprivileged process cannot raise it again. */
  readonly isBackground: boolean;
}
