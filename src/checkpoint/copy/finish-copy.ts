import { isFinished, type LogState } from "../log/state.ts";
import type { CopyContext } from "./copy-commit.ts";
import { refuseStarted } from "./former-copies.ts";

/**
 * Writes down that the work is finished, as it is in the source. Needs no epoch of its own: the shards in charge of the target are those of this copy, or of
 * one that was cut off just before this. Answers whether the target is finished now.
 */
export async function finishCopy({ target, log, signal }: CopyContext): Promise<boolean> {
  for (;;) {
    const outcome = await log.append<LogState | undefined>(async (head) => {
      if (!head || head.state.gang === null || isFinished(head.state)) return { result: head?.state };
      await refuseStarted(target, head, signal);
      const next = head.state.epochs.find(({ shard }) => !head.state.done.includes(shard));
      if (!next) return { result: head.state };
      return { append: { kind: "done", epoch: next.epoch, gang: head.state.gang } };
    }, signal);
    if ("result" in outcome) return outcome.result !== undefined && isFinished(outcome.result);
  }
}
