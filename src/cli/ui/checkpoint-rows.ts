import type { CheckpointInfo } from "../../checkpoint/index.ts";
import { formatBytes } from "../../core/index.ts";
import type { Column } from "./table.ts";

/** Titles for {@link checkpointRows}. */
export const checkpointTitles: readonly Column[] = [
  { title: "STEP", align: "right" },
  { title: "SIZE", align: "right" },
  { title: "FILES", align: "right" },
  { title: "COMMITTED" },
  { title: "STATE" },
];

/** Checkpoints as rows of a table. */
export function checkpointRows(checkpoints: readonly CheckpointInfo[]): string[][] {
  return checkpoints.map(({ step, bytes, files, committedAt, state, pinned }) => [
    String(step),
    formatBytes(bytes),
    String(files),
    committedAt,
    pinned ? `${state}, pinned` : state,
  ]);
}
