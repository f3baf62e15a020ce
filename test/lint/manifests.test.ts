import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lintSources, SourceFile } from "../../src/lint/index.ts";
import { runOutlast } from "../support/run-outlast.ts";

const specs = join(import.meta.dirname, "../../examples/specs");

describe("what outlast manifest makes of the examples has no error and no warning", () => {
  test.each(readdirSync(specs).filter((name) => name.endsWith(".yaml")))("%s", async (name) => {
    const { code, stdout } = await runOutlast(["manifest", join(specs, name)], { cwd: specs });
    expect(code).toBe(0);
    const { findings, counts } = lintSources([new SourceFile(name, stdout)]);
    expect(counts.templates).toBeGreaterThan(0);
    expect(
      findings
        .filter(({ severity }) => severity !== "info")
        .map(({ rule, line, message }) => `${rule}:${line} ${message}`),
    ).toEqual([]);
  });
});
