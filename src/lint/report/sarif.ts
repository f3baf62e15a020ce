import type { Finding, LintResult } from "../lint.ts";
import type { Severity } from "../rule.ts";
import { rules } from "../rules/index.ts";
import { fingerprint } from "./fingerprint.ts";

const levels: Readonly<Record<Severity, string>> = { error: "error", warning: "warning", info: "note" };

/** Findings as SARIF 2.1.0; every rule is declared, and suppressed findings are there with their reason. */
export function formatSarif(result: LintResult, version: string): object {
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "outlast lint",
            version,
            rules: rules.map(({ id, title, why, fix, severity }) => ({
              id,
              shortDescription: { text: title },
              fullDescription: { text: why },
              help: { text: `${why}\n\nFix: ${fix}` },
              defaultConfiguration: { level: levels[severity] },
            })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: [
          ...result.findings.map((finding) => resultOf(finding)),
          ...result.suppressed.map(({ finding, reason }) => ({
            ...resultOf(finding),
            suppressions: [{ kind: "inSource", justification: reason }],
          })),
        ],
      },
    ],
  };
}

const indexes = new Map(rules.map(({ id }, i) => [id, i]));

function resultOf(finding: Finding): object {
  const { rule, severity, message, file, line, column, endLine, endColumn, related, fix, span } = finding;
  return {
    ruleId: rule,
    ruleIndex: indexes.get(rule) ?? -1,
    level: levels[severity],
    message: { text: message },
    locations: [location(file, { startLine: line, startColumn: column, endLine, endColumn })],
    ...(related
      ? {
          relatedLocations: [
            {
              ...location(related.file, { startLine: related.line, startColumn: related.column }),
              message: { text: related.message },
            },
          ],
        }
      : {}),
    partialFingerprints: { "outlast/v1": fingerprint(finding) },
    ...(fix && !span.file.rendered
      ? {
          fixes: [
            {
              description: { text: fix.title },
              artifactChanges: fix.edits.map((edit) => {
                const [from, to] = [edit.file.position(edit.start), edit.file.position(edit.end)];
                return {
                  artifactLocation: { uri: uriOf(edit.file.path) },
                  replacements: [
                    {
                      deletedRegion: {
                        startLine: from.line,
                        startColumn: from.column,
                        endLine: to.line,
                        endColumn: to.column,
                      },
                      insertedContent: { text: edit.text },
                    },
                  ],
                };
              }),
            },
          ],
        }
      : {}),
    properties: { confidence: finding.confidence },
  };
}

function location(file: string, region: object): object {
  return { physicalLocation: { artifactLocation: { uri: uriOf(file) }, region } };
}

function uriOf(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
