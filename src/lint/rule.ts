import type { PodTemplate } from "./placement/pod-template.ts";
import type { Placement, Verdict } from "./placement/place.ts";
import type { Pool } from "./pools/pool.ts";
import type { Supply } from "./pools/supply.ts";
import type { KubeObject } from "./source/kube-object.ts";
import type { YamlDocument } from "./source/parse-yaml.ts";
import type { SourceFile, Span } from "./source/source-file.ts";

export type Severity = "error" | "warning" | "info";

/** A change of text. */
export interface Edit extends Span {
  readonly text: string;
}

/** A change that mends a finding. Safe: it cannot change what a working object does. */
export interface Fix {
  readonly safety: "safe" | "unsafe";
  readonly title: string;
  readonly edits: readonly Edit[];
}

/** What a rule has to say about one place. */
export interface Report {
  readonly at: Span;
  readonly message: string;
  /** @default the rule's own */
  readonly severity?: Severity;
  readonly related?: { readonly span: Span; readonly message: string } | undefined;
  readonly fix?: Fix | undefined;
  /** `likely` where a guess about names or images is part of it. @default "certain" */
  readonly confidence?: "certain" | "likely";
}

/** A pod template and where its pods can land. */
export interface Placed {
  readonly template: PodTemplate;
  readonly placement: Placement;
}

/** Everything of one run, for rules that look across objects. */
export interface LintContext {
  readonly documents: readonly YamlDocument[];
  readonly objects: readonly KubeObject[];
  readonly templates: readonly Placed[];
  readonly supply: Supply;
  readonly files: readonly SourceFile[];
  /** Objects of a kind. */
  readonly ofKind: (kind: string) => readonly KubeObject[];
  readonly gkeVersion?: string | undefined;
}

/** A rule: what it is about, in words for people, and the check. */
export interface Rule {
  readonly id: string;
  /** One sentence: what goes wrong. */
  readonly title: string;
  /** The gravest it gives. */
  readonly severity: Severity;
  readonly why: string;
  readonly fix: string;
  /** Where the facts come from. */
  readonly sources: readonly string[];
  readonly template?: (placed: Placed, context: LintContext) => Iterable<Report>;
  readonly object?: (object: KubeObject, context: LintContext) => Iterable<Report>;
  readonly pool?: (pool: Pool, context: LintContext) => Iterable<Report>;
  readonly document?: (document: YamlDocument, context: LintContext) => Iterable<Report>;
  readonly run?: (context: LintContext) => Iterable<Report>;
}

/** A severity by how sure a landing is; undefined where nothing is to be said. Unknown never gives an error. */
export function severityBy(verdict: Verdict, table: Partial<Record<Verdict, Severity>>): Severity | undefined {
  return table[verdict];
}

/** Names an object in a message: `Job "train"`. */
export function nameOf({ object }: PodTemplate): string {
  return `${object.kind} "${object.name}"`;
}

/** The place that made a pod land somewhere, as a related location. */
export function because(reach: { readonly why: string; readonly at: Span | undefined }): Report["related"] {
  return reach.at ? { span: reach.at, message: reach.why } : undefined;
}
