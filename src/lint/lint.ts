import { nearest } from "./facts/near.ts";
import { place } from "./placement/place.ts";
import { podTemplatesOf } from "./placement/pod-template.ts";
import type { Fix, LintContext, Placed, Report, Rule, Severity } from "./rule.ts";
import { rules as allRules } from "./rules/index.ts";
import { readSources } from "./read-sources.ts";
import type { KubeObject } from "./source/kube-object.ts";
import { SourceFile, type Span } from "./source/source-file.ts";
import { findSuppressions, type Suppression } from "./suppressions.ts";

/** One thing that will break, and where. */
export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** `Job/train`, or the pool's name. */
  readonly object: string;
  readonly confidence: "certain" | "likely";
  readonly related:
    | { readonly file: string; readonly line: number; readonly column: number; readonly message: string }
    | undefined;
  readonly fix: Fix | undefined;
  readonly span: Span;
}

/** A finding that someone decided to live with, and why. */
export interface Suppressed {
  readonly finding: Finding;
  readonly reason: string;
}

/** How to look. */
export interface LintOptions {
  /** Files whose pools are all there are. */
  readonly poolFiles?: ReadonlySet<SourceFile>;
  /** @default by what the files say, else "standard" */
  readonly profile?: "standard" | "autopilot" | undefined;
  /** Such as `1.35.0-gke.1171000`. */
  readonly gkeVersion?: string | undefined;
  /** `RULE KIND/NAME: reason` or `RULE PATH: reason`, from the configuration. */
  readonly ignore?: readonly string[];
  /** Only these rules; for tests. */
  readonly only?: readonly Rule[];
}

/** What was looked at and what was found. */
export interface LintResult {
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Suppressed[];
  readonly counts: {
    readonly files: number;
    readonly objects: number;
    readonly templates: number;
    readonly pools: number;
  };
  /** Files of which nothing could be used, and why. */
  readonly passedOver: readonly { readonly path: string; readonly why: string }[];
}

/** Lints texts: no file is read and none is written here. */
export function lintSources(files: readonly SourceFile[], options: LintOptions = {}): LintResult {
  const read = readSources(files, options);
  const templates: Placed[] = read.objects.flatMap((object) =>
    podTemplatesOf(object).map((template) => ({ template, placement: place(template, read.supply) })),
  );
  const byKind = Map.groupBy(read.objects, ({ kind }) => kind);
  const context: LintContext = {
    documents: read.documents,
    objects: read.objects,
    templates,
    supply: read.supply,
    files,
    ofKind: (kind) => byKind.get(kind) ?? [],
    gkeVersion: options.gkeVersion,
  };
  const locate = new Locator(read.objects);
  const found: Finding[] = [];
  for (const rule of options.only ?? allRules) {
    try {
      for (const report of reportsOf(rule, context)) found.push(findingOf(rule, report, locate));
    } catch (cause) {
      throw new Error(`the rule ${rule.id} failed (${String(cause)})`, { cause });
    }
  }
  const { findings, suppressed } = suppress(
    dedupe(found),
    findSuppressions(files, read.objects, templates, options.ignore ?? []),
  );
  return {
    findings: findings.toSorted(byPlace),
    suppressed,
    counts: {
      files: read.used,
      objects: read.objects.length,
      templates: templates.length,
      pools: read.supply.pools.length,
    },
    passedOver: read.passedOver,
  };
}

function* reportsOf(rule: Rule, context: LintContext): Iterable<Report> {
  if (rule.template) for (const placed of context.templates) yield* rule.template(placed, context);
  if (rule.object) for (const object of context.objects) yield* rule.object(object, context);
  if (rule.pool) for (const pool of context.supply.pools) yield* rule.pool(pool, context);
  if (rule.document) for (const document of context.documents) yield* rule.document(document, context);
  if (rule.run) yield* rule.run(context);
}

function findingOf(rule: Rule, { at, message, severity, related, fix, confidence }: Report, locate: Locator): Finding {
  const start = at.file.position(at.start);
  // A finding about a whole object points at its beginning: one line is what a reader looks at.
  const lineEnd = at.file.startOfLine(start.line) + at.file.lineText(start.line).length;
  const end = at.file.position(Math.max(at.start, Math.min(at.end, lineEnd)));
  const other = related?.span.file.position(related.span.start);
  return {
    rule: rule.id,
    severity: severity ?? rule.severity,
    message,
    file: at.file.path,
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
    object: locate.nameAt(at),
    confidence: confidence ?? "certain",
    related: related && other ? { file: related.span.file.path, ...other, message: related.message } : undefined,
    fix,
    span: at,
  };
}

/** Finds the object that a place belongs to. */
class Locator {
  readonly #byFile = new Map<SourceFile, KubeObject[]>();

  constructor(objects: readonly KubeObject[]) {
    for (const object of objects) {
      const list = this.#byFile.get(object.node.file);
      if (list) list.push(object);
      else this.#byFile.set(object.node.file, [object]);
    }
  }

  nameAt({ file, start }: Span): string {
    const found = this.#byFile.get(file)?.find(({ node }) => node.start <= start && start <= node.end);
    return found ? `${found.kind}/${found.name}` : "";
  }
}

function dedupe(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ rule, file, line, column, message }) => {
    const id = `${rule}\0${file}\0${line}\0${column}\0${message}`;
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function byPlace(a: Finding, b: Finding): number {
  return compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.rule, b.rule);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function suppress(
  found: readonly Finding[],
  suppressions: readonly Suppression[],
): { findings: Finding[]; suppressed: Suppressed[] } {
  if (suppressions.length === 0) return { findings: [...found], suppressed: [] };
  const used = new Set<Suppression>();
  const findings: Finding[] = [];
  const suppressed: Suppressed[] = [];
  for (const finding of found) {
    const match = suppressions.find((one) => one.reason !== "" && one.rule === finding.rule && one.covers(finding));
    if (match) {
      used.add(match);
      suppressed.push({ finding, reason: match.reason });
    } else findings.push(finding);
  }
  for (const one of suppressions) if (!used.has(one)) findings.push(aboutSuppression(one));
  return { findings, suppressed };
}

/** A suppression that does nothing hides the next finding of its kind, so it is told. */
function aboutSuppression({ rule, reason, span, label }: Suppression): Finding {
  const known = allRules.map(({ id }) => id);
  const near = known.includes(rule) ? undefined : nearest(rule, known, 4);
  const message =
    reason === ""
      ? `this suppression of ${rule} gives no reason and is not honoured; write "${rule}: why"`
      : known.includes(rule)
        ? `nothing here is found by ${rule} any more; take the suppression out`
        : `there is no rule "${rule}"${near ? `; did you mean ${near}?` : ""}`;
  const start = span ? span.file.position(span.start) : { line: 1, column: 1 };
  const end = span ? span.file.position(span.end) : start;
  return {
    rule: reason === "" ? "suppression-without-reason" : "suppression-unused",
    severity: "warning",
    message,
    file: span?.file.path ?? label,
    ...start,
    endLine: end.line,
    endColumn: end.column,
    object: "",
    confidence: "certain",
    related: undefined,
    fix: undefined,
    span: span ?? { file: new SourceFile(label, "", "configuration"), start: 0, end: 0 },
  };
}
