import { resolve } from "node:path";
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
import { isMainProcess } from "../supervisor/index.ts";
import type { CommandContext } from "./command.ts";

/** Where a long command hears that its machine is about to go. */
export function noticeSources(values: Values, context: CommandContext): NoticeSource[] {
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
