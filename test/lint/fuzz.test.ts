import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHcl } from "../../src/lint/hcl/parse-hcl.ts";
import { applyFixes, formatPretty, formatSarif, lintSources, SourceFile, unifiedDiff } from "../../src/lint/index.ts";
import { parseShell } from "../../src/lint/shell/parse-shell.ts";
import { casesIn } from "./fixtures.ts";

const runs = process.env["OUTLAST_SOAK"] ? 20_000 : 400;
const root = join(import.meta.dirname, "rules");
const cases = [
  "job-evictions-burn-backoff",
  "shell-pid1-swallows-sigterm",
  "ckpt-on-emptydir",
  "untolerated-taint",
  "computeclass-invalid",
  "pdb-blocks-drain",
]
  .flatMap((id) => casesIn(join(root, id, "fires")))
  .flatMap(({ files }) => files);

/** Cuts, doubles, swaps and sprinkles: what a tired person or a bad merge does to a file. */
const damage = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(40),
    text: fc.oneof(
      fc.constantFrom(
        "",
        ":",
        "- ",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "|",
        "&a ",
        "*a",
        "\n",
        "\t",
        "${",
        "$(",
        "<<EOF\n",
        "\\",
        "#",
        "---\n",
        "!!x ",
        "? ",
        "null",
        "-1",
        "\0",
        "\u2028",
      ),
      fc.string({ maxLength: 5 }),
    ),
  }),
  { minLength: 1, maxLength: 6 },
);

function damaged(text: string, edits: readonly { at: number; length: number; text: string }[]): string {
  let result = text;
  for (const edit of edits) {
    const at = Math.floor(edit.at * result.length);
    result = result.slice(0, at) + edit.text + result.slice(at + edit.length);
  }
  return result;
}

/** Everything that a run does with a text; throws when any of it does. */
function everything(file: SourceFile): void {
  const result = lintSources([file]);
  formatPretty(result);
  JSON.stringify(formatSarif(result, "0"));
  for (const { line, column } of result.findings) {
    expect(line).toBeGreaterThan(0);
    expect(column).toBeGreaterThan(0);
  }
  for (const { file: before, text } of applyFixes(result.findings.flatMap(({ fix }) => fix ?? []))) {
    unifiedDiff(before.path, before.text, text);
    lintSources([new SourceFile(before.path, text)]);
  }
}

describe("no input crashes it", () => {
  test("damaged manifests, Terraform and scripts", () => {
    fc.assert(
      fc.property(fc.constantFrom(...cases), damage, (file, edits) =>
        everything(new SourceFile(file.path, damaged(file.text, edits))),
      ),
      { numRuns: runs },
    );
  });

  test("any text, read as each of the languages", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300, unit: "binary" }),
        fc.constantFrom("a.yaml", "a.tf", "a.sh", "a.json", "pools.yaml"),
        (text, path) => {
          parseShell(text);
          parseHcl(text);
          everything(new SourceFile(path, `kind: Pod\napiVersion: v1\n${text}`));
          everything(new SourceFile(path, text));
        },
      ),
      { numRuns: runs },
    );
  });
});

/** Generous: what is quadratic takes minutes here, what is linear a second on any machine. */
const patience = 60_000;

describe("large and odd input is bounded", () => {
  const head = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n";
  const million = 1_000_000;
  const texts: Record<string, string> = {
    "many keys": head + Array.from({ length: 60_000 }, (_, i) => `k${i}: v`).join("\n"),
    "the same key": head + "k: v\n".repeat(60_000),
    "open brackets": `${head}a: ${"[".repeat(million)}`,
    "open braces in strings": `${head}a: "${"{".repeat(million)}"`,
    dashes: `${head}a:\n  ${"- ".repeat(million / 2)}`,
    "question marks": `${head}${"? ".repeat(million / 2)}`,
    indentation: head + Array.from({ length: 1200 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
    quotes: `${head}a: ${'"'.repeat(million)}`,
    "one long line": `${head}a: ${"x".repeat(5 * million)}`,
    anchors:
      head +
      Array.from({ length: 20_000 }, (_, i) => `k${i}: &a${i} {<<: *a${Math.max(0, i - 1)}, x${i}: 1}`).join("\n"),
    documents: `${head}---\n`.repeat(5000),
  };
  test.each(Object.entries(texts))("YAML: %s", (_, text) => everything(new SourceFile("a.yaml", text)), patience);

  test.each([
    ["brackets", "a = [".repeat(200_000)],
    ["parentheses", `a = ${"(".repeat(200_000)}`],
    ["blocks", "a {\n".repeat(200_000)],
    ["questions", `a = ${"b ? ".repeat(100_000)}`],
    ["minus", `a = ${"-".repeat(200_000)}1`],
    ["calls", `a = ${"f(".repeat(200_000)}`],
    ["open string", `a = "${"${".repeat(200_000)}`],
    ["here-document", `a = <<X\n${"y\n".repeat(200_000)}`],
    [
      "locals in a circle",
      'locals {\n  a = local.b\n  b = local.a\n}\nresource "google_container_node_pool" "p" {\n  name = local.a\n}\n',
    ],
  ])("Terraform: %s", (_, text) => everything(new SourceFile("a.tf", `# node_pools\n${text}`)), patience);

  test.each([
    ["open quotes", '"$'.repeat(200_000)],
    ["substitutions", "$(".repeat(100_000)],
    ["here-documents", "cat <<A\n".repeat(20_000)],
    ["operators", ";|&()<>".repeat(50_000)],
    ["if", "if ".repeat(100_000)],
    ["continuations", "a \\\n".repeat(100_000)],
  ])(
    "shell: %s",
    (_, text) => {
      everything(new SourceFile("a.sh", `gcloud container node-pools create a\n${text}`));
      everything(
        new SourceFile(
          "a.yaml",
          `${head}spec:\n  containers:\n    - name: c\n      command: [sh, -c, ${JSON.stringify(text.slice(0, 150_000))}]\n`,
        ),
      );
    },
    patience,
  );
});

test("the corpus of damage is not empty", () => {
  expect(cases.length).toBeGreaterThan(8);
});
