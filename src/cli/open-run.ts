import { resolve } from "node:path";
import { openRun, type RunStore } from "../checkpoint/index.ts";
import { type ObjectStore, openStore, type OpenStoreOptions, withRetry } from "../storage/index.ts";
import type { CommandArgs, CommandContext } from "./command.ts";

/** The store of `--store`; a relative path is relative to the working directory. */
export async function openStoreOf(
  args: CommandArgs,
  context: CommandContext,
  access: OpenStoreOptions["access"],
): Promise<ObjectStore> {
  const location = args.need("store");
  const place = /^[a-z][a-z0-9+.-]*:/i.test(location) ? location : resolve(context.cwd, location);
  return withRetry(await openStore(place, { access }), { clock: context.clock });
}

/** The run of `--store` and `--run`. */
export async function openRunOf(
  args: CommandArgs,
  context: CommandContext,
  access: OpenStoreOptions["access"],
): Promise<RunStore> {
  return openRun(await openStoreOf(args, context, access), args.need("run"));
}
