import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BenchCase, BenchContext, Figure } from "../case.ts";
import { writeCheckpoint } from "../checkpoint-data.ts";
import type { Measured } from "../children/measure.ts";
import { runChild, timeShell } from "../commands.ts";
import { interleave, median, showSeconds } from "../harness.ts";

type Run = { readonly ms: number } & Partial<Measured>;

/** A verified restore from a directory store, fsync included, beside a plain copy of the same folder. */
export const benchCase: BenchCase = { name: "restore", run: runRestore };

async function runRestore(context: BenchContext): Promise<readonly Figure[]> {
  const { folder } = context.workspace;
  const [data, store, into] = [join(folder, "data"), join(folder, "store-to-restore"), join(folder, "restored")];
  if (!existsSync(data)) writeCheckpoint(data, context.bytes);
  await runChild("ship", {
    build: context.build,
    source: data,
    store,
    owner: "1-1",
  });
  const remove = [join(folder, "cp"), into];
  const results = await interleave<Run>(
    [
      {
        name: "cp -r + sync",
        prepare: () => context.workspace.settle({ remove, read: data }),
        run: async () => ({ ms: await timeShell(`cp -r '${data}' '${folder}/cp'; sync -f '${folder}/cp'`) }),
      },
      {
        name: "outlast",
        prepare: () => context.workspace.settle({ remove, read: store }),
        run: () =>
          runChild("restore", {
            build: context.build,
            store,
            into,
            owner: "1-1",
          }),
      },
    ],
    context.rounds,
    context.note,
  );
  await timeShell(`diff -r '${data}' '${into}'`);
  const times = (name: string) => (results.get(name) ?? []).map((run) => run.ms);
  const ours = results.get("outlast") ?? [];
  const ratio = median(times("cp -r + sync")) / median(times("outlast"));
  const rss = Math.max(...ours.map((run) => run.rss ?? 0));
  const delay = median(ours.map((run) => run.delayP99Ms ?? 0));
  return [
    {
      name: "restore, verified",
      ours: showSeconds(times("outlast")),
      peer: `cp -r + sync ${showSeconds(times("cp -r + sync"))}`,
      result: `${ratio.toFixed(2)}x`,
      bar: ">= 0.85x",
      isMet: ratio >= 0.85,
    },
    {
      name: "restore, memory",
      ours: `${(rss / 1e6).toFixed(0)} MB`,
      peer: "",
      result: "highest RSS",
      bar: "<= 200 MB",
      isMet: rss <= 200e6,
    },
    {
      name: "restore, event loop",
      ours: `${delay.toFixed(1)} ms`,
      peer: "",
      result: "delay p99",
      bar: "<= 10 ms",
      isMet: delay <= 10,
    },
  ];
}
