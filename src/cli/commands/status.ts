import { exitCodes, formatBytes, formatDuration } from "../../core/index.ts";
import type { RunStatus } from "../../supervisor/index.ts";
import type { Command, CommandContext } from "../command.ts";
import type { AttemptJson, StatusJson, StatusListJson } from "../json/status.ts";
import { formatTable } from "../ui/table.ts";

/** `outlast status` */
export const status: Command = {
  name: "status",
  summary: "attempts, commits, lost work and where the time went",
  description:
    "With --run: every attempt of that run, what it restored, committed and lost, and how the time was spent. Without: all runs of the store.",
  examples: [
    { text: "All runs of a store", command: "outlast status --store /mnt/store" },
    { text: "One run", command: "outlast status --store /mnt/store --run bert" },
  ],
  flags: ["store", "run", "json", "noProgress"],
  required: ["store"],
  handler: async (args, context) => {
    const { listRuns, openRun, readCommitHistory } = await import("../../checkpoint/index.ts");
    const { readJournal, summarizeRun } = await import("../../supervisor/index.ts");
    const { openStoreOf } = await import("../open-run.ts");
    const store = await openStoreOf(args, context, "read");

    const look = async (name: string) => {
      const run = openRun(store, name);
      const history = await readCommitHistory(run, { clock: context.clock });
      const { entries, unreadable } = await readJournal(run);
      if (unreadable > 0) context.logger.warn("journal records could not be read", { run: name, unreadable });
      if (history.readFrom > 1) {
        context.logger.warn("the log is long: older commits are left out", { run: name, readFrom: history.readFrom });
      }
      return { name, finished: history.finished, status: summarizeRun(entries, history.commits) };
    };

    if (args.values.run !== undefined) {
      const one = await look(args.values.run);
      if (args.values.json) context.printJson(asJson(one.name, one.finished, one.status));
      else printStatus(one.name, one.finished, one.status, context);
      return exitCodes.finished;
    }

    const runs = [];
    for (const name of await listRuns(store)) runs.push(await look(name));
    const rows = runs.map(({ name, finished, status: { attempts, evictions, newest } }) => ({
      run: name,
      finished,
      attempts: attempts.length,
      evictions,
      newestStep: newest?.step ?? null,
    }));
    if (args.values.json) {
      context.printJson({ schema: 1, runs: rows } satisfies StatusListJson);
      return exitCodes.finished;
    }
    if (rows.length === 0) {
      context.print(`no runs in ${store.url}`);
      return exitCodes.finished;
    }
    context.print(
      formatTable(
        [
          { title: "RUN" },
          { title: "STATE" },
          { title: "ATTEMPTS", align: "right" },
          { title: "EVICTIONS", align: "right" },
          { title: "NEWEST STEP", align: "right" },
        ],
        rows.map(({ run, finished, attempts, evictions, newestStep }) => [
          run,
          finished ? "finished" : "unfinished",
          String(attempts),
          String(evictions),
          newestStep === null ? "-" : String(newestStep),
        ]),
      ),
    );
    return exitCodes.finished;
  },
};

function printStatus(name: string, finished: boolean, status: RunStatus, { print }: CommandContext): void {
  const { attempts, newest, lagMs, time } = status;
  print(`run ${name}: ${finished ? "finished" : "not finished"}`);
  print(
    newest
      ? `newest checkpoint: step ${newest.step}, ${formatBytes(newest.bytes)}, committed ${newest.at}; ${status.commits} commits in all`
      : "no checkpoint committed yet",
  );
  if (lagMs) print(`saved to committed: median ${formatDuration(lagMs.median)}, longest ${formatDuration(lagMs.max)}`);
  if (attempts.length === 0) return;
  const dash = (value: number | undefined) => (value === undefined ? "-" : String(value));
  print("");
  print(
    formatTable(
      [
        { title: "ATTEMPT", align: "right" },
        { title: "STARTED" },
        { title: "RESUMED AT", align: "right" },
        { title: "LAST STEP", align: "right" },
        { title: "COMMITTED", align: "right" },
        { title: "END" },
        { title: "NOTICE TO EXIT", align: "right" },
        { title: "LOST", align: "right" },
      ],
      attempts.map((one) => [
        attempts.some(({ shard }) => shard > 0) ? `${one.attempt} (shard ${one.shard})` : String(one.attempt),
        one.startedAt,
        dash(one.resumedStep),
        dash(one.lastStep),
        dash(one.committedSteps.at(-1)),
        `${one.end}${one.forced ? ", killed" : ""}`,
        one.noticeToExitMs === undefined ? "-" : formatDuration(one.noticeToExitMs),
        one.lost ? `${one.lost.steps} steps, ${formatDuration(one.lost.ms)}` : "-",
      ]),
    ),
  );
  const share = (ms: number) => `${formatDuration(ms)} (${Math.round((100 * ms) / Math.max(1, time.totalMs))}%)`;
  print("");
  print(
    `time: productive ${share(time.productiveMs)}, redone ${share(time.redoneMs)}, restoring ${share(time.restoringMs)}, stopping ${share(time.stoppingMs)}`,
  );
}

function asJson(run: string, finished: boolean, status: RunStatus): StatusJson {
  return {
    schema: 1,
    run,
    finished,
    evictions: status.evictions,
    commits: status.commits,
    newest: status.newest ?? null,
    lagMs: status.lagMs ?? null,
    lostSteps: status.lostSteps,
    time: status.time,
    attempts: status.attempts.map(
      (one): AttemptJson => ({
        ...one,
        exitCode: one.exitCode ?? null,
        noticeSource: one.noticeSource ?? null,
        noticeToExitMs: one.noticeToExitMs ?? null,
        resumedStep: one.resumedStep ?? null,
        lastStep: one.lastStep ?? null,
        committedSteps: [...one.committedSteps],
        lost: one.lost ?? null,
      }),
    ),
  };
}
