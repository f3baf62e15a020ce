import { hostname } from "node:os";
import { resolve } from "node:path";
import { createSession, createTransfer, openRun, type Transfer } from "../checkpoint/index.ts";
import { exitCodes } from "../core/index.ts";
import type { Notice } from "../notice/index.ts";
import { handOverPidOne, journalHook, redactCommand, supervise } from "../supervisor/index.ts";
import type { CommandArgs, CommandContext } from "./command.ts";
import { narrateRun } from "./narrate-run.ts";
import { noticeSources } from "./notice-sources.ts";
import { openStoreOf } from "./open-run.ts";
import { relayNotices } from "./relay-notices.ts";
import { identifyRun } from "./run-identity.ts";
import { readVersion } from "./version.ts";
import { warnWhenApart } from "./warn-when-apart.ts";

/** Runs `outlast run`: puts store, session, notices, supervisor and journal together; decides nothing itself. */
export async function superviseRun(args: CommandArgs, context: CommandContext): Promise<number> {
  // As PID 1 of a container this does not return: a shell takes our place and starts us anew below it.
  handOverPidOne();
  const { values, tail } = args;
  const { clock, logger } = context;
  const identity = identifyRun(values, tail, context);
  const notices = relayNotices(noticeSources(values, context));

  const dir = resolve(context.cwd, args.need("dir"));
  const opening = openStoreOf(args, context, "write");
  opening.catch(() => notices.stop());
  const store = await Promise.race([opening, notices.noticed]);
  if ("kind" in store) return leaveEarly(store, args, context);
  const run = openRun(store, identity.run);
  logger.info(identity.derived ? "run (named after its directory and command)" : "run", {
    run: identity.run,
    store: store.url,
    dir,
    ...(identity.of > 1 ? { shard: `${identity.shard}/${identity.of}` } : {}),
  });

  const transfer = createTransfer({ maxRate: values.maxRate });
  const session = createSession({
    store,
    run: identity.run,
    dir,
    transfer,
    clock,
    shard: identity.shard,
    of: identity.of,
    keep: args.need("keep"),
    again: values.again ?? false,
    restoreOnly: values.restoreOnly ?? false,
    completeWhen: values.completeWhen,
    ignore: values.ignore,
    maxRate: values.maxRate,
  });
  const supervision = supervise({
    command: tail,
    session,
    run: identity.run,
    role: values.restoreOnly ? "restore-only" : `${identity.shard}/${identity.of}`,
    dir,
    cwd: context.cwd,
    env: context.env,
    clock,
    graceMs: args.need("grace"),
    stopSignal: args.need("stopSignal"),
    stopScope: args.need("stopScope"),
    exitOnEviction: args.need("exitOnEviction"),
    ...(values.finishedWhen === undefined ? {} : { finishedWhen: resolve(context.cwd, values.finishedWhen) }),
    notices: [notices.source],
    onJournal: journalHook({
      store: run,
      clock,
      host: hostname(),
      shard: identity.shard,
      of: identity.of,
      command: redactCommand(tail),
      version: readVersion(),
      onFailure: (error) => logger.warn("a journal record could not be written", { error }),
    }),
  });
  narrateRun(supervision.events, session.events, context);
  const asking = new AbortController();
  void warnWhenApart(run, values.region, context, asking.signal);
  try {
    const { verdict, exitCode, committedStep, noticeToExitMs } = await supervision.promise;
    logger.info("over", {
      verdict,
      exitCode,
      committedStep,
      noticeToExitMs: noticeToExitMs && Math.round(noticeToExitMs),
    });
    // After a notice every moment counts, and nothing that could still be closed is worth one: a connection to a store that
    // does not answer, or a thread on it, would keep the process beyond its time.
    if (noticeToExitMs !== undefined) context.leave?.(exitCode);
    return exitCode;
  } finally {
    asking.abort();
    await closeQuickly(transfer, context);
  }
}

/** A notice came before the store had answered: nothing was begun, so there is nothing to save. */
function leaveEarly({ kind, source, reason }: Notice, args: CommandArgs, { logger, leave }: CommandContext): number {
  const exitCode = kind === "eviction" ? args.need("exitOnEviction") : exitCodes.interrupted;
  logger.warn("notice: stopping before the store has answered", { source, reason });
  logger.info("over", { verdict: kind === "eviction" ? "evicted" : "interrupted", exitCode });
  leave?.(exitCode);
  return exitCode;
}

/** The verdict stands and the machine may be about to go: nothing is waited for that does not end at once. */
async function closeQuickly(transfer: Transfer, { clock, logger }: CommandContext): Promise<void> {
  const done = new AbortController();
  const closed = transfer.close().catch((error: unknown) => logger.debug("closing the workers failed", { error }));
  await Promise.race([closed, clock.sleep(300, done.signal)]);
  done.abort();
}
