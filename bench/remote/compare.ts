import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BenchContext, Figure } from "../case.ts";
import { writeCheckpoint } from "../checkpoint-data.ts";
import { timeShell, versionOf } from "../commands.ts";
import { type Contender, interleave, median, showSeconds } from "../harness.ts";
import { bareLoop, type Leg, outlast, rclone, type RemoteContender, type RemoteSetup, restic } from "./contenders.ts";
import type { Service, ServiceKind } from "./service.ts";

type Run = { readonly upload: Leg; readonly restore: Leg };

/** What restic cannot be aimed at; undefined where it can. */
export interface Comparison {
  readonly service: ServiceKind;
  readonly whyNotRestic?: string;
}

/** Moves a checkpoint to a server and back by each contender in turn, with a fresh server for each. */
export async function compareRemote(context: BenchContext, comparison: Comparison): Promise<readonly Figure[]> {
  const { folder } = context.workspace;
  const data = join(folder, "data");
  if (!existsSync(data)) writeCheckpoint(data, context.bytes);
  const setup: RemoteSetup = { ...context, folder, data, service: comparison.service };
  const [rcloneVersion, resticVersion] = await Promise.all([
    versionOf("rclone", "version"),
    versionOf("restic", "version"),
  ]);
  const contenders = [
    outlast(setup),
    bareLoop(setup),
    ...(comparison.service.kind === "gcs" ? [bareLoop(setup, "media")] : []),
    ...(rcloneVersion ? [rclone(setup)] : []),
    ...(resticVersion && !comparison.whyNotRestic ? [restic(setup)] : []),
  ];
  const results = await interleave(
    contenders.map((contender) => inTurn(context, comparison.service, contender, data)),
    context.rounds,
    context.note,
  );
  const why = (version: string | undefined, tool: string) => (version ? undefined : `not installed: install ${tool}`);
  return figures(comparison.service, results, [
    { name: "bare loop", label: "bare loop", bars: [0.7, 0.7] },
    ...(comparison.service.kind === "gcs" ? [{ name: "bare media loop", label: "bare media loop" }] : []),
    { name: "rclone copy", label: rcloneVersion ?? "rclone", bars: [1.8, 1.2], why: why(rcloneVersion, "rclone") },
    {
      name: "restic",
      label: resticVersion?.split(" compiled")[0] ?? "restic",
      bars: [3.5, 1.2],
      why: why(resticVersion, "restic") ?? comparison.whyNotRestic,
    },
  ]);
}

function inTurn(context: BenchContext, kind: ServiceKind, contender: RemoteContender, data: string): Contender<Run> {
  const { workspace } = context;
  const objects = join(workspace.folder, "objects");
  const restored = ["outlast", "rclone", "restic"].map((name) => join(workspace.folder, `restored-${name}`));
  let service: Service;
  return {
    name: contender.name,
    prepare: async () => {
      await workspace.settle({ remove: [objects, ...restored], read: data });
      await mkdir(objects);
      service = await kind.start(objects);
      await contender.prepare?.(service);
    },
    run: async () => {
      try {
        const upload = await contender.upload(service);
        await workspace.settle({ remove: [], read: objects });
        const restore = await contender.restore(service);
        if (contender.restored) await timeShell(`diff -r '${data}' '${contender.restored}'`);
        return { upload, restore };
      } finally {
        await service.stop();
      }
    },
  };
}

interface PeerRow {
  readonly name: string;
  readonly label: string;
  /** For upload and restore; without them there is nothing to be met. */
  readonly bars?: readonly [number, number];
  /** Why there is nothing to compare with. */
  readonly why?: string | undefined;
}

function figures(kind: ServiceKind, results: ReadonlyMap<string, Run[]>, peers: readonly PeerRow[]): Figure[] {
  const ours = results.get("outlast") ?? [];
  return (["upload", "restore"] as const).flatMap((leg, number) => {
    const times = (name: string) => (results.get(name) ?? []).map((run) => run[leg].ms);
    const rss = Math.max(...ours.map((run) => run[leg].rss ?? 0));
    const delay = median(ours.map((run) => run[leg].delayP99Ms ?? 0));
    const what = `${kind.kind} ${leg}`;
    return [
      ...peers.map((peer) => beside(`${what} (${peer.label})`, times("outlast"), times(peer.name), peer, number)),
      figure(`${what}, memory`, `${(rss / 1e6).toFixed(0)} MB`, kind.server, "highest RSS", "<= 250 MB", rss <= 250e6),
      figure(`${what}, event loop`, `${delay.toFixed(1)} ms`, kind.server, "delay p99", "<= 10 ms", delay <= 10),
    ];
  });
}

function beside(name: string, ours: readonly number[], theirs: readonly number[], peer: PeerRow, leg: number): Figure {
  if (theirs.length === 0) return figure(name, showSeconds(ours), peer.why ?? "", "not comparable", "", undefined);
  const ratio = median(theirs) / median(ours);
  const bar = peer.bars?.[leg];
  const verdict = bar === undefined ? undefined : ratio >= bar;
  return figure(
    name,
    showSeconds(ours),
    showSeconds(theirs),
    `${ratio.toFixed(2)}x`,
    bar === undefined ? "" : `>= ${bar}x`,
    verdict,
  );
}

function figure(
  name: string,
  ours: string,
  peer: string,
  result: string,
  bar: string,
  isMet: boolean | undefined,
): Figure {
  return { name, ours, peer, result, bar, isMet };
}
