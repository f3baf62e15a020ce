import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { formatBytes } from "../../src/core/index.ts";
import type { BenchCase, BenchContext, Figure } from "../case.ts";
import { changeTenth, writeCheckpoint } from "../checkpoint-data.ts";
import type { Measured } from "../children/measure.ts";
import { runChild, timeShell, versionOf } from "../commands.ts";
import { type Contender, interleave, median, showSeconds } from "../harness.ts";

type Run = { readonly ms: number } & Partial<Measured> & { readonly sentBytes?: number; readonly bytes?: number };

/** Shipping into a directory store, hashing and fsync included, beside tools that copy a folder. */
export const benchCase: BenchCase = { name: "ship", run: runShip };

async function runShip(context: BenchContext): Promise<readonly Figure[]> {
  const { folder } = context.workspace;
  const [data, changed, store] = [join(folder, "data"), join(folder, "changed"), join(folder, "store")];
  if (!existsSync(data)) writeCheckpoint(data, context.bytes);
  // 45 %: the middle of the file, on no chunk's border.
  await changeTenth(data, changed, readdirSync(data), 0.45);
  const manifest = join(store, "bench/steps/1/1-1.json");
  const clean = (read: string) => () =>
    context.workspace.settle({ remove: ["cp", "rclone", "restic", "store"].map((name) => join(folder, name)), read });
  const contenders: Contender<Run>[] = [
    {
      name: "cp -r + sync",
      prepare: clean(data),
      run: async () => ({ ms: await timeShell(`cp -r '${data}' '${folder}/cp'; sync -f '${folder}/cp'`) }),
    },
    {
      name: "outlast",
      prepare: clean(data),
      run: () =>
        runChild("ship", {
          build: context.build,
          source: data,
          store,
          owner: "1-1",
        }),
    },
    {
      name: "outlast, 10% changed",
      prepare: () => context.workspace.settle({ remove: [], read: changed }),
      run: () =>
        runChild("ship", {
          build: context.build,
          source: changed,
          store,
          owner: "1-2",
          base: manifest,
        }),
    },
  ];
  const rclone = await versionOf("rclone", "version");
  if (rclone) {
    contenders.push({
      name: "rclone copy",
      prepare: clean(data),
      run: async () => ({
        ms: await timeShell(`rclone copy '${data}' '${folder}/rclone'; sync -f '${folder}/rclone'`),
      }),
    });
  }
  const restic = await versionOf("restic", "version");
  if (restic) {
    contenders.push({
      name: "restic backup",
      prepare: async () => {
        await clean(data)();
        await timeShell(`restic init -q -r '${folder}/restic'`, { RESTIC_PASSWORD: "bench" });
      },
      run: async () => ({
        ms: await timeShell(`restic backup -q --no-cache -r '${folder}/restic' '${data}'; sync -f '${folder}/restic'`, {
          RESTIC_PASSWORD: "bench",
        }),
      }),
    });
  }
  const results = await interleave(contenders, context.rounds, context.note);
  return figures(results, rclone, restic);
}

function figures(results: Map<string, Run[]>, rclone: string | undefined, restic: string | undefined): Figure[] {
  const times = (name: string) => (results.get(name) ?? []).map((run) => run.ms);
  const ours = results.get("outlast") ?? [];
  const second = results.get("outlast, 10% changed") ?? [];
  const beside = (what: string, peer: string, least: number): Figure => {
    const ratio = median(times(peer)) / median(times("outlast"));
    const result = `${ratio.toFixed(2)}x`;
    return {
      name: what,
      ours: showSeconds(times("outlast")),
      peer: `${peer} ${showSeconds(times(peer))}`,
      result,
      bar: `>= ${least}x`,
      isMet: ratio >= least,
    };
  };
  const timeShare = median(second.map((run) => run.ms)) / median(times("outlast"));
  const byteShare = median(second.map((run) => (run.sentBytes ?? 0) / (run.bytes ?? 1)));
  const rss = Math.max(...[...ours, ...second].map((run) => run.rss ?? 0));
  const delay = median(ours.map((run) => run.delayP99Ms ?? 0));
  return [
    beside("ship", "cp -r + sync", 0.95),
    {
      name: "ship again, time",
      ours: showSeconds(second.map((run) => run.ms)),
      peer: "its first ship",
      result: `${timeShare.toFixed(2)}x`,
      bar: "<= 0.5x",
      isMet: timeShare <= 0.5,
    },
    {
      name: "ship again, bytes",
      ours: formatBytes(median(second.map((run) => run.sentBytes ?? 0))),
      peer: "its first ship",
      result: `${(100 * byteShare).toFixed(1)}%`,
      bar: "<= 13%",
      isMet: byteShare <= 0.13,
    },
    ...(rclone ? [beside(`ship (${rclone})`, "rclone copy", 3)] : [absent("rclone")]),
    ...(restic ? [beside(`ship (${restic.split(" compiled")[0]})`, "restic backup", 5)] : [absent("restic")]),
    {
      name: "ship, memory",
      ours: `${(rss / 1e6).toFixed(0)} MB`,
      peer: "",
      result: "highest RSS",
      bar: "<= 200 MB",
      isMet: rss <= 200e6,
    },
    {
      name: "ship, event loop",
      ours: `${delay.toFixed(1)} ms`,
      peer: "",
      result: "delay p99",
      bar: "<= 10 ms",
      isMet: delay <= 10,
    },
  ];
}

function absent(tool: string): Figure {
  return {
    name: `ship beside ${tool}`,
    ours: "",
    peer: `not installed: install ${tool} to compare`,
    result: "",
    bar: "",
    isMet: undefined,
  };
}
