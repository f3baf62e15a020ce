import type { v1 } from "@google-cloud/pubsub";

/** The two clients that a queue needs. */
export interface PubSubClients {
  readonly publisher: v1.PublisherClient;
  readonly subscriber: v1.SubscriberClient;
}

/**
 * Loads the client library, which is large, and makes the plain clients: their calls are confirmed one by one, where the streaming
 * subscriber hoards messages and sends acks on its own time. `emulator` is `HOST:PORT`.
 */
export async function openClients(project: string, emulator: string | undefined): Promise<PubSubClients> {
  // With an emulator there is no Google machine to ask for credentials; without this the library looks for one and complains.
  if (emulator) process.env["METADATA_SERVER_DETECTION"] ??= "none";
  const { PubSub, v1 } = await import("@google-cloud/pubsub");
  const endpoint = emulator ? { apiEndpoint: emulator, emulatorMode: true } : {};
  const config = await new PubSub({ projectId: project, ...endpoint }).getClientConfig();
  return {
    publisher: new v1.PublisherClient(config as ConstructorParameters<typeof v1.PublisherClient>[0]),
    subscriber: new v1.SubscriberClient(config as ConstructorParameters<typeof v1.SubscriberClient>[0]),
  };
}
