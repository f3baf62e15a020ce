import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applyFixes, lintSources, rules, SourceFile } from "../../src/lint/index.ts";
import { alsoIn, casesIn, expectedIn } from "./fixtures.ts";

const root = join(import.meta.dirname, "rules");
/** The engine itself reports these; suppressions.test.ts has their cases. */
const ofTheEngine = ["suppression-unused", "suppression-without-reason"];

test("every rule has a folder with cases that fire and cases that do not, and every folder a rule", () => {
  const ids = rules.map(({ id }) => id).filter((id) => !ofTheEngine.includes(id));
  expect(readdirSync(root).sort()).toEqual(ids.sort());
  const without = ids.filter(
    (id) => casesIn(join(root, id, "fires")).length === 0 || casesIn(join(root, id, "quiet")).length === 0,
  );
  expect(without).toEqual([]);
});

for (const rule of rules.filter(({ id }) => !ofTheEngine.includes(id))) {
  describe(rule.id, () => {
    for (const { name, files } of casesIn(join(root, rule.id, "fires"))) {
      test(`fires on ${name}, and nothing else does`, () => {
        const { findings } = lintSources(files);
        const own = findings.filter((finding) => finding.rule === rule.id);
        expect(own.map(({ file, line, severity }) => `${file}:${line} ${severity}`)).toEqual(expectedIn(files));
        const wanted = [rule.id, ...alsoIn(files)].sort();
        expect([...new Set(findings.map((finding) => finding.rule))].sort()).toEqual(wanted);
      });
    }
    for (const { name, files } of casesIn(join(root, rule.id, "quiet"))) {
      test(`is quiet on ${name}`, () => {
        const { findings, counts } = lintSources(files);
        expect(counts.files).toBeGreaterThan(0);
        expect(findings.filter((finding) => finding.rule === rule.id)).toEqual([]);
      });
    }
    const fixes = casesIn(join(root, rule.id, "fix"));
    for (const { name, files } of fixes.filter((one) => one.name.includes(".in."))) {
      test(`mends ${name}`, () => {
        const wanted = fixes.find((one) => one.name === name.replace(".in.", ".out."))?.files ?? [];
        const [before] = files;
        const { findings } = lintSources(files, { only: [rule] });
        const [mended] = applyFixes(findings.flatMap(({ fix }) => fix ?? []));
        expect(mended?.text).toBe(wanted[0]?.text);
        expect(
          lintSources([new SourceFile(before?.path ?? "", mended?.text ?? "")], { only: [rule] }).findings,
        ).toEqual([]);
      });
    }
  });
}

test("no id stands twice, and every rule says why, what to do and how it knows", () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  for (const { title, why, fix, sources } of rules) {
    expect(title).not.toMatch(/\.$/);
    expect(why.length).toBeGreaterThan(40);
    expect(fix.length).toBeGreaterThan(10);
    expect(sources.length).toBeGreaterThan(0);
  }
});
