import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Rule, rules } from "../../src/lint/index.ts";

const note = "<!-- Made by `npm run docs` from the source; do not edit. -->\n";
const cases = join(import.meta.dirname, "../../test/lint/rules");

/** A page for each rule of `outlast lint`, and one that lists them, by their path below docs/reference. */
export function rulePages(): Record<string, string> {
  return {
    "rules/README.md": listPage(),
    ...Object.fromEntries(rules.map((rule) => [`rules/${rule.id}.md`, rulePage(rule)])),
  };
}

function listPage(): string {
  const rows = rules.map(({ id, title, severity }) => `| [${id}](${id}.md) | ${severity} | ${title} |`);
  return [
    "# Rules of `outlast lint`\n",
    note,
    "The severity is the gravest that a rule gives; where it is not known on which capacity a pod lands, no rule gives an error. `outlast lint --explain RULE` prints the same text.\n",
    "| rule | severity | what goes wrong |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function rulePage({ id, title, severity, why, fix, sources }: Rule): string {
  return [
    `# ${id}\n`,
    note,
    `**${title}.** Severity: ${severity}.\n`,
    `${why}\n`,
    `## What to do\n`,
    `${fix}\n`,
    ...example("Found", join(cases, id, "fires")),
    ...example("Not found", join(cases, id, "quiet")),
    "## Sources\n",
    ...sources.map((source) => `- ${source}`),
    "",
  ].join("\n");
}

/** The first case of a rule's tests: what stands on the page is what the tests run. */
function example(heading: string, folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch {
    // The engine's own rules have no cases of this sort.
    return [];
  }
  const [name] = names;
  if (name === undefined) return [];
  return [`## ${heading}\n`, ...filesOf(join(folder, name)).flatMap(block)];
}

function filesOf(path: string): string[] {
  return statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .map((name) => join(path, name))
    : [path];
}

function block(path: string): string[] {
  const language = path.endsWith(".tf") ? "hcl" : path.endsWith(".sh") ? "sh" : "yaml";
  const text = readFileSync(path, "utf8").replace(/^# also: .*\n/gm, "");
  return [`\`\`\`${language}`, text.trimEnd(), "```", ""];
}
