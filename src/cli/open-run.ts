import { resolve } from "node:path";
import { openRun, type RunStore } from "../checkpoint/index.ts";
import { type RetryOptions, retry } from "../core/index.ts";
import { type ObjectStore, openStore, type OpenStoreOptions, withRetry } from "../storage/index.ts";
import type { CommandArgs, CommandContext } from "./command.ts";

type Patience = Pick<RetryOptions, "attempts" | "firstDelayMs" | "maxDelayMs">;

/** For a bucket, by both providers' rules: truncated exponential backoff with jitter. This outlasts a storm of 429 and 503 of about a minute. */
const bucketPatience: Patience = { attempts: 11, firstDelayMs: 250, maxDelayMs: 32_000 };
/**
 * The metadata server of a new pod, which the credentials come from, may need seconds to answer. Under 8 s in all: a notice that comes
 * while the store is being opened must still be answered in time.
 */
const openingPatience: Patience = { attempts: 6, firstDelayMs: 250, maxDelayMs: 4000 };
/** From this attempt on somebody who watches should know why nothing happens. */
const toldFrom = 4;

/** How long calls to a store are repeated; a directory's faults pass soon or not at all. */
export function patienceWith(location: string): Patience {
  return isBucket(location) ? bucketPatience : {};
}

/** The store of `--store`; a relative path is relative to the working directory. */
export async function openStoreOf(
  args: CommandArgs,
  context: CommandContext,
  access: OpenStoreOptions["access"],
): Promise<ObjectStore> {
  return openStoreAt(args.need("store"), context, access);
}

/** The store at a path or URL; a relative path is relative to the working directory. */
export async function openStoreAt(
  location: string,
  context: CommandContext,
  access: OpenStoreOptions["access"],
): Promise<ObjectStore> {
  const place = /^[a-z][a-z0-9+.-]*:/i.test(location) ? location : resolve(context.cwd, location);
  const { clock, logger } = context;
  const onRetry = (error: unknown, attempt: number, delayMs: number) => {
    const fields = { attempt, againInMs: Math.round(delayMs), error };
    if (attempt >= toldFrom) logger.warn("the store does not answer as it should; trying again", fields);
    else logger.debug("a call to the store failed; trying again", fields);
  };
  const open = () => openStore(place, { access });
  const store = isBucket(place) ? await retry(open, { ...openingPatience, clock, onRetry }) : await open();
  return withRetry(store, { ...patienceWith(place), clock, onRetry });
}

/** The run of `--store` and `--run`. */
export async function openRunOf(
  args: CommandArgs,
  context: CommandContext,
  access: OpenStoreOptions["access"],
): Promise<RunStore> {
  return openRun(await openStoreOf(args, context, access), args.need("run"));
}

function isBucket(location: string): boolean {
  return /^(?:gs|s3):/i.test(location);
}
