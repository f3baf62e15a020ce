import { describe, it } from "vitest";
import { caseTimeoutMs, runCase } from "./run-case.ts";
import { oneShardCases } from "./scenarios.ts";

describe("the log protocol with one shard, in every order of store calls", () => {
  for (const one of oneShardCases) it(one.name, { timeout: caseTimeoutMs }, () => runCase(one));
});
