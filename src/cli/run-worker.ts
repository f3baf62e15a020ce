import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { OutlastError } from "../core/index.ts";
import { handOverPidOne } from "../supervisor/index.ts";
import { createWorker, type HandlerSpec } from "../worker/index.ts";
import type { CommandArgs, CommandContext } from "./command.ts";
import { followDepth, narrateWork } from "./narrate-work.ts";
import { noticeSources } from "./notice-sources.ts";
import { openWorkQueueOf } from "./open-queue.ts";

/** Runs `outlast work`: puts queue, notices and worker together; decides nothing itself. */
export async function runWorker(args: CommandArgs, context: CommandContext): Promise<number> {
  // As PID 1 of a container this does not return: a shell takes our place and starts us anew below it.
  handOverPidOne();
  const { values, need } = args;
  const { clock, logger } = context;
  const handler = handlerOf(args, context);
  const notices = noticeSources(values, context);
  const queue = await openWorkQueueOf(args, context);
  const over = new AbortController();
  try {
    await queue.prepare();
    logger.info("working", {
      queue: queue.url,
      handler: handler.kind,
      chunk: need("chunk"),
      concurrency: need("concurrency"),
    });
    const worker = createWorker({
      queue,
      handler,
      batch: values.batch ?? false,
      chunk: need("chunk"),
      concurrency: need("concurrency"),
      leaseMs: need("lease"),
      graceMs: need("grace"),
      untilDrained: values.untilDrained ?? false,
      exitOnEviction: need("exitOnEviction"),
      itemTimeoutMs: values.itemTimeout,
      maxResultBytes: need("maxResult"),
      notices,
      env: context.env,
      cwd: context.cwd,
      onStderr: (bytes) => context.stderr.write(Buffer.from(bytes).toString("utf8")),
      clock,
    });
    const isWatched = context.stderr.isTTY && !values.noProgress;
    narrateWork(worker.events, context, isWatched ? followDepth(queue, context, over.signal) : () => undefined);
    const { verdict, exitCode, tookMs, noticeToEndMs, ...counts } = await worker.promise;
    context.progress.done();
    const perSecond = Number((counts.done / Math.max(0.001, tookMs / 1000)).toPrecision(3));
    logger.info("over", {
      verdict,
      exitCode,
      ...counts,
      perSecond,
      tookMs: Math.round(tookMs),
      noticeToExitMs: noticeToEndMs && Math.round(noticeToEndMs),
    });
    return exitCode;
  } finally {
    over.abort();
    await closeQuickly(queue, context);
  }
}

function handlerOf({ values, tail }: CommandArgs, { cwd }: CommandContext): HandlerSpec {
  const { handler, http } = values;
  const given = [tail.length > 0, handler !== undefined, http !== undefined].filter(Boolean).length;
  if (given !== 1) {
    throw new OutlastError(
      "OUTLAST_USAGE",
      given === 0 ? "nobody was named to handle the items" : "the items have two handlers",
      {
        hint: "give a program after two dashes (outlast work … -- python infer.py), or --handler FILE, or --http URL: one of them",
      },
    );
  }
  if (http !== undefined) {
    if (!/^https?:\/\//i.test(http) || !URL.canParse(http)) {
      throw new OutlastError("OUTLAST_USAGE", `--http "${http}" is not an HTTP address`, {
        hint: "write http://HOST:PORT/PATH",
      });
    }
    return { kind: "http", url: http };
  }
  if (handler === undefined) return { kind: "command", command: tail };
  const path = resolve(cwd, handler);
  if (!existsSync(path)) {
    throw new OutlastError("OUTLAST_USAGE", `--handler ${handler}: there is no such file`, { hint: "check the path" });
  }
  return { kind: "module", path };
}

/** The verdict stands and the machine may be about to go: nothing is waited for that does not end at once. */
async function closeQuickly(queue: { close(): Promise<void> }, { clock, logger }: CommandContext): Promise<void> {
  const done = new AbortController();
  const closed = queue.close().catch((error: unknown) => logger.debug("closing the queue failed", { error }));
  await Promise.race([closed, clock.sleep(300, done.signal)]);
  done.abort();
}
