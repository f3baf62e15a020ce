import { hostname } from "node:os";
import { resolve } from "node:path";
import { randomId } from "../core/index.ts";
import { openQueue, openQueueParts, type QueueParts, type WorkQueue } from "../queue/index.ts";
import type { CommandArgs, CommandContext } from "./command.ts";

type Where = Pick<CommandContext, "cwd">;

/** Interruptions after which an item starts alone, and how many it may survive so. */
const limits = { suspectAfter: 2, lonelyInterruptions: 20 };

/** Opens both sides of the queue that a command line names. */
export function openPartsOf({ need, values }: CommandArgs, { cwd }: Where): Promise<QueueParts> {
  return openQueueParts(
    place(need("queue"), cwd),
    values.results === undefined ? undefined : place(values.results, cwd),
  );
}

/** Opens that queue for a worker. */
export function openWorkQueueOf({ need, values }: CommandArgs, { cwd }: Where): Promise<WorkQueue> {
  const results = values.results === undefined ? undefined : place(values.results, cwd);
  return openQueue(place(need("queue"), cwd), results, {
    holder: `${hostname()}-${process.pid}-${randomId().slice(0, 8)}`,
    leaseMs: need("lease"),
    limits: { attempts: need("attempts"), ...limits },
  });
}

/** Runs `act` on both sides of the queue and closes them. */
export async function withParts<T>(
  args: CommandArgs,
  context: Where,
  act: (parts: QueueParts) => Promise<T>,
): Promise<T> {
  const parts = await openPartsOf(args, context);
  try {
    return await act(parts);
  } finally {
    await Promise.all([parts.ledger.close(), parts.broker?.close()]);
  }
}

/** A file's path counts from the command's own directory. */
function place(url: string, cwd: string): string {
  const [, path, query] = /^sqlite:(?!\/)([^?]*)(.*)$/is.exec(url) ?? [];
  return path === undefined || path === "" || path.startsWith(":") ? url : `sqlite:${resolve(cwd, path)}${query ?? ""}`;
}
