import { keys } from "./facts/keys.ts";
import type { Finding } from "./lint.ts";
import type { Placed } from "./rule.ts";
import type { KubeObject } from "./source/kube-object.ts";
import type { Node } from "./source/node.ts";
import type { SourceFile, Span } from "./source/source-file.ts";

/** Someone's word that a finding is known. Without a reason it is not honoured. */
export interface Suppression {
  readonly rule: string;
  readonly reason: string;
  /** Undefined for one that stands in the configuration. */
  readonly span: Span | undefined;
  readonly label: string;
  readonly covers: (finding: Finding) => boolean;
}

/** Every suppression: comments on or above a line, annotations on objects and pod templates, and the configuration. */
export function findSuppressions(
  files: readonly SourceFile[],
  objects: readonly KubeObject[],
  templates: readonly Placed[],
  ignore: readonly string[],
): Suppression[] {
  return [
    ...files.flatMap(inComments),
    ...objects.flatMap(({ node }) => inAnnotation(node)),
    // A Pod's template is the object itself.
    ...templates.flatMap(({ template }) => (template.node === template.object.node ? [] : inAnnotation(template.node))),
    ...ignore.map(inConfiguration),
  ];
}

function inComments(file: SourceFile): Suppression[] {
  if (!file.text.includes("outlast-ignore")) return [];
  const found: Suppression[] = [];
  const mark = /#[ \t]*outlast-ignore[ \t]+([\w-]+)[ \t]*:?[ \t]*([^\n\r]*)/g;
  for (let match = mark.exec(file.text); match; match = mark.exec(file.text)) {
    const { line } = file.position(match.index);
    const isAlone = file.text.slice(file.startOfLine(line), match.index).trim() === "";
    const wanted = isAlone ? line + 1 : line;
    found.push({
      rule: match[1] ?? "",
      reason: (match[2] ?? "").trim(),
      span: { file, start: match.index, end: match.index + match[0].length },
      label: file.path,
      covers: (finding) => finding.span.file === file && finding.line === wanted,
    });
  }
  return found;
}

function inAnnotation(node: Node): Suppression[] {
  const annotation = node.get("metadata", "annotations", keys.ignore);
  if (annotation?.text === undefined) return [];
  return annotation.text
    .split(";")
    .filter((one) => one.trim() !== "")
    .map((one) => {
      const [rule = "", ...reason] = one.split(/[=:]/);
      return {
        rule: rule.trim(),
        reason: reason.join("=").trim(),
        span: annotation,
        label: node.file.path,
        covers: ({ span }) => span.file === node.file && node.start <= span.start && span.start <= node.end,
      };
    });
}

/** `RULE KIND/NAME: reason`, `RULE path/to/file.yaml: reason`, `RULE folder/: reason`. */
function inConfiguration(text: string): Suppression {
  const found = /^\s*([\w-]+)\s+(\S+?)\s*:\s+(\S[^]*)$/.exec(text);
  const target = found?.[2] ?? "";
  return {
    rule: found?.[1] ?? text,
    reason: found?.[3]?.trim() ?? "",
    span: undefined,
    label: "lint.ignore",
    covers: ({ object, file }) =>
      object === target || file === target || (target.endsWith("/") && file.startsWith(target)),
  };
}
