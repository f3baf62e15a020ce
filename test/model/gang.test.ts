import { describe, it } from "vitest";
import { caseTimeoutMs, runCase } from "./run-case.ts";
import { gangCases } from "./scenarios.ts";

describe("the log protocol with two shards, in every order of store calls", () => {
  for (const one of gangCases) it(one.name, { timeout: caseTimeoutMs }, () => runCase(one));
});
