import type { SessionEvents } from "../checkpoint/index.ts";
import { type Emitter, formatBytes, formatDuration } from "../core/index.ts";
import type { SuperviseEvents } from "../supervisor/index.ts";
import type { CommandContext } from "./command.ts";

/** Tells what happens during a run: log lines, and a progress line while restoring. */
export function narrateRun(
  supervisor: Emitter<SuperviseEvents>,
  session: Emitter<SessionEvents>,
  { logger, progress }: Pick<CommandContext, "logger" | "progress">,
): void {
  session.on("session:progress", ({ what, step, bytes, totalBytes }) => {
    // Once the program runs, the terminal is its own.
    if (what === "restoring") progress.update({ what: `restoring step ${step}`, bytes, totalBytes });
  });
  session.on("session:restored", ({ step, bytes, fetchedBytes, ms }) => {
    progress.done();
    const size = { size: formatBytes(bytes), fetched: formatBytes(fetchedBytes) };
    logger.info("checkpoint restored and verified", { step, ...size, took: formatDuration(ms) });
  });
  session.on("session:waiting", ({ missing, of }) => logger.info("waiting for other shards", { missing, of }));
  session.on("session:damaged", (event) => logger.warn("checkpoint is damaged", event));
  session.on("session:saved", ({ step, path, bytes }) =>
    logger.debug("checkpoint complete", { step, path, size: formatBytes(bytes) }),
  );
  session.on("session:committed", ({ step, bytes, sentBytes, lagMs }) =>
    logger.info("checkpoint committed", {
      step,
      size: formatBytes(bytes),
      sent: formatBytes(sentBytes),
      afterSave: formatDuration(lagMs),
    }),
  );
  session.on("session:skipped", (event) => logger.info("checkpoint skipped", event));
  session.on("session:warning", ({ message, ...fields }) => logger.warn(message, fields));
  session.on("session:ended", ({ message, reason }) => logger.warn(message, { reason }));

  supervisor.on("supervisor:started", ({ pid, attempt, resume }) => {
    progress.done();
    logger.info("started", { pid, attempt, ...(resume ? { resumedAt: resume.step } : {}) });
  });
  supervisor.on("supervisor:state-changed", (event) => logger.debug("state changed", { ...event }));
  supervisor.on("supervisor:notice", ({ notice, effect }) => {
    const { source, reason } = notice;
    if (effect === "repeat") logger.warn("another notice; already stopping", { source, reason });
    else logger.warn(effect === "planned" ? "the end is known" : "notice: stopping", { source, reason, effect });
  });
  supervisor.on("supervisor:signal-sent", (event) => logger.debug("signal sent", { ...event }));
  supervisor.on("supervisor:save-requested", (event) => logger.debug("save requested", { ...event }));
  supervisor.on("supervisor:child-ended", ({ code, signal, forced }) =>
    logger.info("program ended", { code, signal, ...(forced ? { forced } : {}) }),
  );
  supervisor.on("supervisor:leftovers", (event) => logger.warn("the program left processes behind", { ...event }));
  supervisor.on("supervisor:warning", ({ message, ...fields }) => logger.warn(message, fields));
}
