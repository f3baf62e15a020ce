export { openPubSubBroker, type PubSubBrokerOptions } from "./pubsub-broker.ts";
