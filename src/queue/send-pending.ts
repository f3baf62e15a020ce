import type { Ledger } from "../results/index.ts";
import type { Broker } from "./types.ts";

/** How {@link sendPending} sends. */
export interface SendOptions {
  /** Items in one send. @default 1000 */
  readonly batch?: number;
  /** No new batch begins after it aborts. */
  readonly signal?: AbortSignal | undefined;
  readonly onSent?: (sent: number) => void;
}

/**
 * Sends every pending item to the separate broker, and marks as sent what the broker confirmed. Dying anywhere in it costs a second
 * message at most; the next call sends what is still pending. Says how many it sent.
 */
export async function sendPending(ledger: Ledger, broker: Broker, options: SendOptions = {}): Promise<number> {
  let sent = 0;
  let after: string | undefined;
  do {
    const page = await ledger.pending(after, options.batch ?? 1_000);
    if (page.items.length > 0) {
      await broker.send(page.items);
      await ledger.markSent(page.items);
      sent += page.items.length;
      options.onSent?.(sent);
    }
    after = page.next;
  } while (after !== undefined && !options.signal?.aborted);
  return sent;
}
