import { hostname } from "node:os";
import { resolve } from "node:path";
import { createSession, createTransfer, openRun, type Transfer } from "../checkpoint/index.ts";
import {
  createEndTimeFileSource,
  createEndTimeSource,
  createMetadataSource,
  createSignalSource,
  isOnComputeEngine,
  type NoticeSource,
  parseEndTime,
} from "../notice/index.ts";
import type { Values } from "../spec/index.ts";
import { handOverPidOne, isMainProcess, journalHook, redactCommand, supervise } from "../supervisor/index.ts";
import type { CommandArgs, CommandContext } from "./command.ts";
import { narrateRun } from "./narrate-run.ts";
import { openStoreOf } from "./open-run.ts";
import { identifyRun } from "./run-identity.ts";
import { readVersion } from "./version.ts";

/** Runs `outlast run`: puts store, session, notices, supervisor and journal together; decides nothing itself. */
export async function superviseRun(args: CommandArgs, context: CommandContext): Promise<number> {
  // As PID 1 of a container this does not return: a shell takes our place and starts us anew below it.
  handOverPidOne();
  const { values, tail } = args;
  const { clock, logger } = context;
  const identity = identifyRun(values, tail, context);
  const notices = noticeSources(values, context);

  const dir = resolve(context.cwd, args.need("dir"));
  const store = await openStoreOf(args, context, "write");
  const run = openRun(store, identity.run);
  logger.info(identity.derived ? "run (named after its directory and command)" : "run", {
    run: identity.run,
    store: store.url,
    dir,
    ...(identity.of > 1 ? { shard: `${identity.shard}/${identity.of}` } : {}),
  });

  const transfer = createTransfer();
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
    notices,
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
  try {
    const { verdict, exitCode, committedStep, noticeToExitMs } = await supervision.promise;
    logger.info("over", {
      verdict,
      exitCode,
      committedStep,
      noticeToExitMs: noticeToExitMs && Math.round(noticeToExitMs),
    });
    return exitCode;
  } finally {
    await closeQuickly(transfer, context);
  }
}

/** The verdict stands and the machine may be about to go: nothing is waited for that does not end at once. */
async function closeQuickly(transfer: Transfer, { clock, logger }: CommandContext): Promise<void> {
  const done = new AbortController();
  const closed = transfer.close().catch((error: unknown) => logger.debug("closing the workers failed", { error }));
  await Promise.race([closed, clock.sleep(300, done.signal)]);
  done.abort();
}

function noticeSources(values: Values, context: CommandContext): NoticeSource[] {
  // First, and never taken down again: from here to the process's end no signal may kill it by default.
  const sources: NoticeSource[] = [createSignalSource({ isMainProcess: isMainProcess() })];
  const { notice = "auto", endsAt, endsAtFile } = values;
  if (notice === "metadata" || (notice === "auto" && isOnComputeEngine(context.env))) {
    const host = context.env["GCE_METADATA_HOST"];
    sources.push(createMetadataSource({ clock: context.clock, ...(host ? { host } : {}) }));
  }
  if (endsAt !== undefined) sources.push(createEndTimeSource(parseEndTime(endsAt, context.clock.now())));
  if (endsAtFile !== undefined) {
    sources.push(createEndTimeFileSource({ path: resolve(context.cwd, endsAtFile), clock: context.clock }));
  }
  return sources;
}
