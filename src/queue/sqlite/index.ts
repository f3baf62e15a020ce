export { SqliteBroker } from "./sqlite-broker.ts";
