import { type Clock, isOutlastError, retry, systemClock } from "../../core/index.ts";
import type { Item, PubSubAddress } from "../../results/index.ts";
import type { Broker, Delivery } from "../types.ts";
import { LongLeases, longestDeadlineMs } from "./long-leases.ts";
import { fromMessage, toRequests } from "./message.ts";
import { openClients, type PubSubClients } from "./pubsub-clients.ts";
import { grpcStatus, statusOf, translateError } from "./pubsub-errors.ts";
import { prepareQueue } from "./prepare.ts";
import { setupCommands, subscriptionName, topicName } from "./pubsub-setup.ts";

/** How to open a Pub/Sub queue. */
export interface PubSubBrokerOptions {
  /** `HOST:PORT` of an emulator. @default PUBSUB_EMULATOR_HOST */
  readonly emulator?: string | undefined;
  /** How often a call is tried that failed for a reason that heals. @default 6 */
  readonly attempts?: number;
  /** How long one call may take. @default 15_000 */
  readonly callTimeoutMs?: number;
  /** Told of messages on the subscription that no `publish` sent; they are left alone for ten minutes each time. */
  readonly onForeign?: (messageId: string) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}

interface Received {
  readonly ackId?: string | null;
  readonly message?: {
    readonly data?: Uint8Array | string | null;
    readonly attributes?: Readonly<Record<string, string>> | null;
    readonly messageId?: string | null;
  } | null;
}

/** Pub/Sub's own limit for one pull, and for the ids of one acknowledge or modifyAckDeadline (512 kB of them). */
const maxPull = 1_000;
const maxReceipts = 1_000;
/** A server answers an empty pull one second before the call's end; shorter waits are a few quick looks instead. */
const marginMs = 1_000;
const longestPullMs = 30_000;
const lookEveryMs = 100;
/** How long a pull that is no longer wanted is still listened to. */
const answerWithinMs = 300;

/** Google Pub/Sub by unary calls. At least once, with no memory and no count: the ledger has both. */
export class PubSubBroker implements Broker {
  readonly url: string;
  readonly #address: PubSubAddress;
  readonly #options: PubSubBrokerOptions;
  readonly #clock: Clock;
  readonly #long: LongLeases;
  readonly #subscription: string;
  #clients: Promise<PubSubClients> | undefined;
  /** The subscription's own deadline; undefined when these credentials may not know it. */
  #deadline: Promise<number | undefined> | undefined;

  constructor(address: PubSubAddress, options: PubSubBrokerOptions = {}) {
    this.url = address.shown;
    this.#address = address;
    this.#options = { emulator: process.env["PUBSUB_EMULATOR_HOST"], ...options };
    this.#clock = options.clock ?? systemClock;
    this.#subscription = subscriptionName(address);
    this.#long = new LongLeases(this.#clock, (receipts) => this.#modify(receipts, longestDeadlineMs));
  }

  async prepare(): Promise<void> {
    const { publisher, subscriber } = await this.#open();
    await this.#call("prepare", this.#subscription, () => prepareQueue(publisher, subscriber, this.#address));
    this.#deadline = undefined;
  }

  async plan(): Promise<readonly string[]> {
    return setupCommands(this.#address);
  }

  async send(items: readonly Item[]): Promise<void> {
    const topic = topicName(this.#address);
    const requests = [...toRequests(items, topic)];
    const { publisher } = await this.#open();
    for (const messages of requests) {
      const request = { topic, messages: [...messages] };
      await this.#call("send", topic, () => publisher.publish(request, this.#callOptions()));
    }
  }

  async pull(max: number, { waitMs, leaseMs, signal }: Parameters<Broker["pull"]>[1]): Promise<readonly Delivery[]> {
    const end = this.#clock.monotonic() + waitMs;
    while (!signal?.aborted) {
      const leftMs = Math.min(end - this.#clock.monotonic(), longestPullMs);
      const received = await this.#pullOnce(Math.min(max, maxPull), leftMs, signal);
      if (received.length > 0) {
        const deliveries = await this.#accept(received, leaseMs);
        if (deliveries.length > 0) return deliveries;
      }
      const restMs = end - this.#clock.monotonic();
      if (restMs <= 0) break;
      await this.#clock.sleep(Math.min(restMs, lookEveryMs), signal);
    }
    return [];
  }

  async extend(deliveries: readonly Delivery[], leaseMs: number): Promise<void> {
    const receipts = receiptsOf(deliveries);
    this.#long.note(receipts, leaseMs);
    await this.#modify(receipts, Math.min(leaseMs, longestDeadlineMs));
  }

  async ack(deliveries: readonly Delivery[]): Promise<void> {
    const { subscriber } = await this.#open();
    this.#long.forget(receiptsOf(deliveries));
    await this.#inParts("ack", receiptsOf(deliveries), (ackIds) =>
      subscriber.acknowledge({ subscription: this.#subscription, ackIds }, this.#callOptions()),
    );
  }

  async nack(deliveries: readonly Delivery[], delayMs: number): Promise<void> {
    this.#long.forget(receiptsOf(deliveries));
    await this.#modify(receiptsOf(deliveries), delayMs);
  }

  async close(): Promise<void> {
    this.#long.close();
    const clients = await this.#clients?.catch(() => undefined);
    await clients?.publisher.close();
    await clients?.subscriber.close();
  }

  /** One unary pull: a long one when there is time for the server's answer, else a quick look. */
  async #pullOnce(max: number, leftMs: number, signal: AbortSignal | undefined): Promise<readonly Received[]> {
    const { subscriber } = await this.#open();
    const isLong = leftMs > marginMs;
    const request = { subscription: this.#subscription, maxMessages: max, returnImmediately: !isLong };
    const timeout = isLong ? leftMs + marginMs : (this.#options.callTimeoutMs ?? 15_000);
    return this.#call("pull", this.#subscription, async () => {
      const cancel = new AbortController();
      let isOver = false;
      // Lets an answer that is on its way arrive first: messages of a cancelled pull are nobody's until their deadline.
      const cancelSoon = async () => {
        await this.#clock.sleep(answerWithinMs);
        if (!isOver) cancel.abort();
      };
      const whenAborted = () => void cancelSoon();
      if (signal?.aborted) whenAborted();
      else signal?.addEventListener("abort", whenAborted);
      try {
        const [{ receivedMessages }] = await subscriber.pull(request, { timeout, retry: null, signal: cancel.signal });
        return receivedMessages ?? [];
      } catch (error) {
        const status = statusOf(error);
        // Nothing came in time, or we were told to stop. What the server was just sending comes again after its deadline.
        if (status === grpcStatus.deadlineExceeded && isLong) return [];
        if (status === grpcStatus.cancelled && cancel.signal.aborted) return [];
        throw error;
      } finally {
        isOver = true;
        signal?.removeEventListener("abort", whenAborted);
      }
    });
  }

  /** Items from messages, held for as long as was asked, which may be more or less than the subscription's own deadline. */
  async #accept(received: readonly Received[], leaseMs: number): Promise<readonly Delivery[]> {
    const deliveries: Delivery[] = [];
    const foreign: string[] = [];
    for (const { ackId, message } of received) {
      if (!ackId) continue;
      const item = fromMessage(message?.data, message?.attributes ?? {});
      if (item) deliveries.push({ ...item, receipt: ackId });
      else {
        foreign.push(ackId);
        this.#options.onForeign?.(message?.messageId ?? "");
      }
    }
    if (foreign.length > 0) await this.#modify(foreign, longestDeadlineMs);
    const receipts = receiptsOf(deliveries);
    this.#long.note(receipts, leaseMs);
    const heldMs = Math.min(leaseMs, longestDeadlineMs);
    if ((await this.#ownDeadline()) !== secondsOf(heldMs)) await this.#modify(receipts, heldMs);
    return deliveries;
  }

  /** Sets how long from now messages are held; 0 gives them back at once. */
  async #modify(receipts: readonly string[], ms: number): Promise<void> {
    const { subscriber } = await this.#open();
    const ackDeadlineSeconds = secondsOf(ms);
    await this.#inParts("extend", receipts, (ackIds) =>
      subscriber.modifyAckDeadline(
        { subscription: this.#subscription, ackIds, ackDeadlineSeconds },
        this.#callOptions(),
      ),
    );
  }

  /** Calls with so many receipts as one request may hold. One that Pub/Sub does not know any more must not stop the others. */
  async #inParts(
    operation: string,
    receipts: readonly string[],
    call: (part: string[]) => Promise<unknown>,
  ): Promise<void> {
    for (let from = 0; from < receipts.length; from += maxReceipts) {
      const part = receipts.slice(from, from + maxReceipts);
      try {
        await this.#call(operation, this.#subscription, () => call(part));
      } catch (error) {
        if (!isStaleReceipt(error)) throw error;
        // Alone, a stale receipt changes nothing: its message was delivered again, and the ledger knows what was settled.
        if (part.length > 1) for (const receipt of part) await this.#inParts(operation, [receipt], call);
      }
    }
  }

  #ownDeadline(): Promise<number | undefined> {
    this.#deadline ??= this.#readDeadline();
    return this.#deadline;
  }

  async #readDeadline(): Promise<number | undefined> {
    const { subscriber } = await this.#open();
    try {
      const [found] = await subscriber.getSubscription({ subscription: this.#subscription }, this.#callOptions());
      return found.ackDeadlineSeconds ?? undefined;
    } catch {
      // A subscriber's role does not include looking at the subscription. Then every pull sets the deadline itself.
      return undefined;
    }
  }

  async #call<T>(operation: string, target: string, act: () => Promise<T>): Promise<T> {
    const once = async () => {
      try {
        return await act();
      } catch (error) {
        throw translateError(error, operation, target);
      }
    };
    return retry(once, {
      clock: this.#clock,
      attempts: this.#options.attempts ?? 6,
      maxDelayMs: 2_000,
      isTransient: (error) => isOutlastError(error) && error.recovery === "retry",
    });
  }

  #callOptions(): { timeout: number; retry: null } {
    return { timeout: this.#options.callTimeoutMs ?? 15_000, retry: null };
  }

  #open(): Promise<PubSubClients> {
    this.#clients ??= openClients(this.#address.project, this.#options.emulator);
    return this.#clients;
  }
}

/** Opens a Pub/Sub queue; the client is loaded with the first call. */
export function openPubSubBroker(address: PubSubAddress, options: PubSubBrokerOptions = {}): Broker {
  return new PubSubBroker(address, options);
}

function receiptsOf(deliveries: readonly Delivery[]): string[] {
  return deliveries.map((delivery) => delivery.receipt);
}

/** Pub/Sub counts in whole seconds; a part of one is a second, so that nothing comes back too early. */
function secondsOf(ms: number): number {
  return Math.min(Math.ceil(Math.max(0, ms) / 1000), longestDeadlineMs / 1000);
}

function isStaleReceipt(error: unknown): boolean {
  const status = statusOf(isOutlastError(error) ? error.cause : error);
  return status === grpcStatus.invalidArgument || status === grpcStatus.failedPrecondition;
}
