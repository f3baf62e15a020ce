import { constants } from "node:os";
import { assertNever, exitCodes, signalExitCode } from "../core/index.ts";
import type { ChildEnd } from "./child.ts";
import type { Verdict } from "./journal.ts";

/** Why a start is being stopped. */
export type StopCause = "eviction" | "interrupt" | "superseded" | "gang-ended";

/** All that decides a verdict. */
export interface VerdictFacts {
  /** What stopped it, if it did not end by itself; the first cause counts. */
  readonly cause: StopCause | undefined;
  /** Undefined when the child was never started. */
  readonly child: ChildEnd | undefined;
  /** The child said `finished`, or the file of `--finished-when` is there. */
  readonly saidFinished: boolean;
  /** What became of recording the success; undefined when it was not tried or not done in time. */
  readonly completion: "all-done" | "gang-ended" | "superseded" | undefined;
  /** @default 75 */
  readonly exitOnEviction: number;
}

/** Whether the child's work counts as finished and may be recorded so. */
export function isWorkDone(facts: Pick<VerdictFacts, "cause" | "child" | "saidFinished">): boolean {
  if (facts.cause === "superseded" || facts.cause === "gang-ended") return false;
  // After a notice code 0 says nothing: the handler everyone copies saves and exits 0 in the middle of the work.
  return facts.cause === undefined ? facts.child?.code === 0 : facts.saidFinished;
}

/** The verdict and its exit code: the one place where a supervisor's exit code is decided. */
export function decideVerdict(facts: VerdictFacts): { readonly verdict: Verdict; readonly exitCode: number } {
  if (isWorkDone(facts)) {
    if (facts.completion === "all-done") return { verdict: "finished", exitCode: exitCodes.finished };
    if (facts.completion === "superseded") return { verdict: "superseded", exitCode: exitCodes.superseded };
    if (facts.completion === "gang-ended") return { verdict: "gang-ended", exitCode: facts.exitOnEviction };
  }
  switch (facts.cause) {
    case "eviction":
      return { verdict: "evicted", exitCode: facts.exitOnEviction };
    case "gang-ended":
      return { verdict: "gang-ended", exitCode: facts.exitOnEviction };
    case "superseded":
      return { verdict: "superseded", exitCode: exitCodes.superseded };
    case "interrupt":
      return { verdict: "interrupted", exitCode: exitCodes.interrupted };
    case undefined:
      return { verdict: "failed", exitCode: childExitCode(facts.child) };
    default:
      return assertNever(facts.cause);
  }
}

function childExitCode(child: ChildEnd | undefined): number {
  if (child?.signal) return signalExitCode(constants.signals[child.signal]);
  // A success that could not be recorded is a failure of ours.
  return child?.code || exitCodes.failed;
}
