import { exitCodes } from "../core/index.ts";
import { createSignalSource } from "../notice/index.ts";
import { publish, type PublishResult } from "../queue/index.ts";
import type { CommandArgs, CommandContext } from "./command.ts";
import { withParts } from "./open-queue.ts";

/** Runs `outlast publish`; a signal stops it after the batch under way. */
export async function runPublish(
  args: CommandArgs,
  context: CommandContext,
): Promise<{ readonly result: PublishResult; readonly exitCode: number }> {
  const { values } = args;
  const { clock, logger, progress } = context;
  const stopped = new AbortController();
  const over = new AbortController();
  let stopCode: number = exitCodes.finished;
  const signals = createSignalSource();
  signals.start(({ kind, reason }) => {
    stopCode = kind === "eviction" ? exitCodes.evicted : exitCodes.interrupted;
    if (kind === "force") process.exit(stopCode);
    logger.warn("notice: stopping after this batch", { reason });
    stopped.abort();
  }, over.signal);
  const beganMs = clock.monotonic();
  try {
    const result = await withParts(args, context, async ({ ledger, broker }) => {
      if (!values.dryRun) {
        await broker?.prepare();
        await ledger.prepare();
      }
      return publish({
        ledger,
        broker,
        from: args.operands,
        id: values.id,
        version: values.version,
        format: values.format,
        skipBad: values.skipBad ?? false,
        dryRun: values.dryRun ?? false,
        cwd: context.cwd,
        signal: stopped.signal,
        clock,
        onWarning: (message) => logger.warn(message),
        onProgress: (counts) => {
          const perSecond = Math.round(counts.read / Math.max(0.001, (clock.monotonic() - beganMs) / 1000));
          const text = `${counts.read} rows  ${counts.added} new  ${perSecond}/s`;
          progress.update({ what: "publishing", text, fields: { ...counts, perSecond } });
        },
      });
    });
    progress.done();
    return { result, exitCode: result.isComplete ? exitCodes.finished : stopCode };
  } finally {
    over.abort();
    signals[Symbol.dispose]();
  }
}
