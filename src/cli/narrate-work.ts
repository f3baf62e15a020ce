import { type Emitter, formatDuration } from "../core/index.ts";
import type { WorkQueue } from "../queue/index.ts";
import type { WorkerEvents } from "../worker/index.ts";
import type { CommandContext } from "./command.ts";

type Told = Pick<CommandContext, "logger" | "progress" | "clock">;

/** Tells what a worker does: log lines, and a progress line. */
export function narrateWork(
  events: Emitter<WorkerEvents>,
  { logger, progress, clock }: Told,
  left: () => LeftToDo | undefined,
): void {
  const beganMs = clock.monotonic();
  events.on("worker:settled", ({ done, failed, dead }) => {
    const seconds = Math.max(0.001, (clock.monotonic() - beganMs) / 1000);
    const rate = Number((done / seconds).toPrecision(3));
    const { items, etaMs } = left() ?? {};
    const fields = {
      done,
      failed,
      dead,
      perSecond: rate,
      left: items,
      eta: etaMs === undefined ? undefined : formatDuration(etaMs),
    };
    const parts = [
      `${done} done`,
      ...(failed > 0 ? [`${failed} to be tried again`] : []),
      ...(dead > 0 ? [`${dead} dead`] : []),
      `${rate}/s`,
      ...(items === undefined ? [] : [`${items} left`]),
      ...(etaMs === undefined ? [] : [`about ${formatDuration(etaMs)}`]),
    ];
    progress.update({ what: "working", text: parts.join("  "), fields });
  });
  events.on("worker:notice", ({ notice: { source, reason }, effect }) => {
    progress.done();
    if (effect === "repeat") logger.warn("another notice; already stopping", { source, reason });
    else logger.warn(effect === "planned" ? "the end is known" : "notice: stopping", { source, reason, effect });
  });
  events.on("worker:handed-back", ({ started, prefetched }) => {
    if (started + prefetched > 0) logger.info("handed back what will not be finished", { started, prefetched });
  });
  events.on("worker:lease-lost", ({ items }) =>
    logger.warn("leases were lost to other workers; results are still offered", {
      items: items.map(({ id }) => id).slice(0, 10),
      count: items.length,
    }),
  );
  events.on("worker:dead", ({ id, error }) => logger.warn("item is dead", { id, error }));
  events.on("worker:failure", ({ id, error, retryDelayMs }) =>
    logger.info("item failed and will be tried again", { id, error, in: formatDuration(retryDelayMs) }),
  );
  events.on("worker:handler-started", (event) => logger.debug("handler started", { ...event }));
  events.on("worker:handler-ended", (event) => logger.debug("handler ended", { ...event }));
  events.on("worker:waiting", (event) => logger.debug("waiting", { ...event }));
  events.on("worker:warning", ({ message, ...fields }) => logger.warn(message, fields));
}

/** What is still to be done in the whole queue, and how long that takes at the present rate. */
export interface LeftToDo {
  readonly items: number;
  readonly etaMs: number | undefined;
}

/** Asks now and then what is left, for a person who watches; a failure is no news, the worker itself tells of it. */
export function followDepth(
  queue: WorkQueue,
  { clock }: Pick<CommandContext, "clock">,
  signal: AbortSignal,
): () => LeftToDo | undefined {
  let latest: LeftToDo | undefined;
  const follow = async () => {
    while (!signal.aborted) {
      await clock.sleep(latest === undefined ? 1000 : 5000, signal);
      if (signal.aborted) return;
      try {
        const { ready, leased, delayed, ratePerMinute } = await queue.depth();
        const items = ready + leased + delayed;
        latest = { items, etaMs: ratePerMinute > 0 ? (items / ratePerMinute) * 60_000 : undefined };
      } catch {
        latest = undefined;
      }
    }
  };
  void follow();
  return () => latest;
}
