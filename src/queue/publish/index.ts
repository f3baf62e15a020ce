export { type PublishCounts, type PublishOptions, type PublishResult, publish } from "./publish.ts";
export type { SourceFormat } from "./source.ts";
