import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { referencePages } from "../../tools/docs/pages.ts";

describe("generated reference pages are as committed (else: npm run docs)", () => {
  test.each(Object.entries(referencePages()))("%s", async (name, text) => {
    const path = join(import.meta.dirname, "../../docs/reference", name);
    expect(await readFile(path, "utf8").catch(() => "missing")).toBe(text);
  });
});
