import { OutlastError } from "../../core/index.ts";
import type { PubSubAddress } from "../../results/index.ts";

/** The ack deadline of a subscription that we make: the default lease. */
export const defaultDeadlineSeconds = 30;
/** How long a message waits that nobody acks; the ledger outlives it (`queue retry --missing`). */
export const retentionSeconds = 7 * 86_400;
const leastRetentionSeconds = 86_400;

/** What we look at in a subscription. */
export interface SubscriptionState {
  readonly topic: string;
  readonly retentionSeconds: number;
  readonly hasDeadLetterPolicy: boolean;
  readonly isPush: boolean;
  readonly isOrdered: boolean;
  readonly isDetached: boolean;
  readonly filter: string;
  readonly expires: boolean;
}

/** The commands that make what a queue needs. */
export function setupCommands({ project, topic, subscription }: PubSubAddress): readonly string[] {
  return [
    `gcloud pubsub topics create ${topic} --project=${project}`,
    `gcloud pubsub subscriptions create ${subscription} --project=${project} --topic=${topic} ` +
      `--ack-deadline=${defaultDeadlineSeconds} --message-retention-duration=7d --expiration-period=never`,
  ];
}

/** Throws when the subscription would lose items. */
export function checkSubscription(state: SubscriptionState, address: PubSubAddress): void {
  const { subscription } = address;
  const wanted = topicName(address);
  if (state.topic !== wanted) {
    throw unsuitable(
      address,
      `listens to ${state.topic}, not to ${wanted}`,
      "mend topic= in the URL, or name another subscription",
    );
  }
  if (state.hasDeadLetterPolicy) {
    const hint = `gcloud pubsub subscriptions update ${subscription} --clear-dead-letter-policy (dead letters are kept beside the results)`;
    throw unsuitable(
      address,
      "has a dead-letter policy: handing work back at an eviction counts towards it, and items would be moved away",
      hint,
    );
  }
  if (state.isPush) throw unsuitable(address, "pushes its messages", "workers pull: make a pull subscription");
  if (state.isDetached)
    throw unsuitable(address, "is detached from its topic", "delete it and run `outlast queue create`");
  if (state.isOrdered) {
    throw unsuitable(
      address,
      "delivers in order: one item handed back would hold up others",
      "make one without message ordering",
    );
  }
  if (state.filter !== "") {
    throw unsuitable(address, `has a filter (${state.filter}) that may drop items`, "make one without a filter");
  }
  if (state.retentionSeconds < leastRetentionSeconds) {
    const hint = `gcloud pubsub subscriptions update ${subscription} --message-retention-duration=7d`;
    throw unsuitable(address, `forgets messages after ${state.retentionSeconds} s`, hint);
  }
  if (state.expires) {
    const hint = `gcloud pubsub subscriptions update ${subscription} --expiration-period=never`;
    throw unsuitable(address, "is deleted, with all it holds, when nobody used it for a while", hint);
  }
}

export function topicName({ project, topic }: PubSubAddress): string {
  return `projects/${project}/topics/${topic}`;
}

export function subscriptionName({ project, subscription }: PubSubAddress): string {
  return `projects/${project}/subscriptions/${subscription}`;
}

function unsuitable(address: PubSubAddress, what: string, hint: string): OutlastError {
  const name = subscriptionName(address);
  return new OutlastError("OUTLAST_QUEUE_UNSUITABLE", `the subscription ${name} ${what}`, {
    operation: "prepare",
    target: name,
    hint,
  });
}
