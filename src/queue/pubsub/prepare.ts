import type { protos, v1 } from "@google-cloud/pubsub";
import type { PubSubAddress } from "../../results/index.ts";
import { grpcStatus, statusOf } from "./pubsub-errors.ts";
import {
  checkSubscription,
  defaultDeadlineSeconds,
  retentionSeconds,
  type SubscriptionState,
  subscriptionName,
  topicName,
} from "./pubsub-setup.ts";

type Subscription = protos.google.pubsub.v1.ISubscription;

/** Makes the topic and the subscription where they are missing, and checks the subscription that is there. */
export async function prepareQueue(
  publisher: v1.PublisherClient,
  subscriber: v1.SubscriberClient,
  address: PubSubAddress,
): Promise<void> {
  const [topic, name] = [topicName(address), subscriptionName(address)];
  await unless(grpcStatus.alreadyExists, publisher.createTopic({ name: topic }));
  const wanted: Subscription = {
    name,
    topic,
    ackDeadlineSeconds: defaultDeadlineSeconds,
    messageRetentionDuration: { seconds: retentionSeconds },
    // Empty: it never expires. Left out it would after 31 idle days, with everything in it.
    expirationPolicy: {},
  };
  if (await unless(grpcStatus.alreadyExists, subscriber.createSubscription(wanted))) return;
  const [found] = await subscriber.getSubscription({ subscription: name });
  checkSubscription(stateOf(found), address);
}

/** Whether the call succeeded; false when it failed with that status, which is expected. */
async function unless(status: number, call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (statusOf(error) === status) return false;
    throw error;
  }
}

function stateOf(found: Subscription): SubscriptionState {
  return {
    topic: found.topic ?? "",
    retentionSeconds: Number(found.messageRetentionDuration?.seconds ?? retentionSeconds),
    hasDeadLetterPolicy: Boolean(found.deadLetterPolicy?.deadLetterTopic),
    isPush:
      Boolean(found.pushConfig?.pushEndpoint) ||
      Boolean(found.bigqueryConfig?.table) ||
      Boolean(found.cloudStorageConfig?.bucket),
    isOrdered: found.enableMessageOrdering === true,
    isDetached: found.detached === true,
    filter: found.filter ?? "",
    expires: Number(found.expirationPolicy?.ttl?.seconds ?? 0) > 0,
  };
}
