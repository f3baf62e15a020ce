export { openPostgresBroker } from "./postgres-broker.ts";
