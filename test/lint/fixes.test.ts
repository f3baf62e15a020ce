import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lintSources, mend } from "../../src/lint/index.ts";
import { casesIn } from "./fixtures.ts";

const root = join(import.meta.dirname, "rules");
const all = readdirSync(root).flatMap((id) =>
  casesIn(join(root, id, "fires")).map((one) => ({ ...one, name: `${id}/${one.name}` })),
);
const comments = (text: string) => text.match(/#.*$/gm) ?? [];

describe.each([
  ["safe", false],
  ["unsafe", true],
] as const)("all %s fixes together", (_, isUnsafe) => {
  const before = all.map(({ name, files }) => ({ name, files, first: lintSources(files) }));
  const mended = before.map(({ name, files, first }) => ({
    name,
    first,
    ...mend({ files, poolFiles: new Set() }, first, {}, isUnsafe),
  }));

  test("some files change", () => {
    expect(mended.filter(({ files }) => files.length > 0).length).toBeGreaterThan(20);
  });

  test("leave YAML that can be read, and come to an end", () => {
    const broken = mended.filter(
      ({ first, result }) =>
        result.findings.filter(({ rule }) => rule === "yaml-invalid" || rule === "duplicate-key").length >
        first.findings.filter(({ rule }) => rule === "yaml-invalid" || rule === "duplicate-key").length,
    );
    expect(broken.map(({ name }) => name)).toEqual([]);
    const left = mended.filter(({ result }) =>
      result.findings.some(({ fix }) => fix && (isUnsafe || fix.safety === "safe")),
    );
    expect(left.map(({ name }) => name)).toEqual([]);
  });

  test("keep every comment", () => {
    for (const { files } of mended) {
      for (const { file, text } of files) expect(comments(text)).toEqual(expect.arrayContaining(comments(file.text)));
    }
  });
});
