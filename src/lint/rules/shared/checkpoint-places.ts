import { type Container, mainContainers, type PodTemplate } from "../../placement/pod-template.ts";
import { commandWords, runsOutlast, scriptOf, spanInScript, wordsOf } from "../../placement/script.ts";
import type { LintContext } from "../../rule.ts";
import type { Span } from "../../source/source-file.ts";
import { type Place, placeOf } from "./volumes.ts";

/** A path that a program saves its state to, and what is behind it. */
export interface CheckpointPlace {
  readonly container: Container;
  readonly path: string;
  readonly span: Span;
  readonly place: Place;
  /** Named as a checkpoint, rather than as some output. */
  readonly isNamed: boolean;
}

const named = /ckpt|checkpoint|snapshot/i;
const output =
  /(?:^|[-_.])(?:output|save|results?|model|logs?|run)[-_]?(?:dir|path|folder|directory)$|default_root_dir$|workdir$/i;
const remote = /\b(?:gs|s3|s3a|hf|abfss?|az|wasbs?|hdfs|oss):\/\//;

const cache = new WeakMap<PodTemplate, { readonly places: readonly CheckpointPlace[]; readonly isRemote: boolean }>();

/** Paths that a job saves to, as far as its arguments, variables and mounts tell; `isRemote` when it names an object store. */
export function checkpointPlaces(
  template: PodTemplate,
  context: LintContext,
): { readonly places: readonly CheckpointPlace[]; readonly isRemote: boolean } {
  const known = cache.get(template);
  if (known) return known;
  const places: CheckpointPlace[] = [];
  let isRemote = false;
  for (const container of mainContainers(template)) {
    const found = pathsOf(container, template, context);
    if (found.isRemote) isRemote = true;
    places.push(
      ...found.paths.map(({ path, span, isNamed }) => ({
        container,
        path,
        span,
        isNamed,
        place: placeOf(path, container, template, context),
      })),
    );
  }
  const made = { places: isRemote ? [] : places, isRemote };
  cache.set(template, made);
  return made;
}

interface Path {
  readonly path: string;
  readonly span: Span;
  readonly isNamed: boolean;
}

function pathsOf(
  container: Container,
  template: PodTemplate,
  context: LintContext,
): { paths: Path[]; isRemote: boolean } {
  const paths = new Map<string, Path>();
  // What a Secret or ConfigMap puts into the environment cannot be seen: it may well be a bucket.
  let isRemote = container.node.get("envFrom") !== undefined;
  const flags = flagsOf(container, template, context);
  const underOutlast = runsOutlast(container);
  const add = (name: string, value: string, span: Span): void => {
    if (remote.test(value)) isRemote = true;
    // Under outlast the directory may die with the pod: what has to last is the store.
    const isWanted = underOutlast ? name === "store" : named.test(name) || output.test(name);
    if (!isWanted || !value.startsWith("/") || value.startsWith("/dev/shm") || value.startsWith("/tmp/ray")) return;
    if (/[$<{]/.test(value) || /\.(?:py|json|ya?ml|sh|txt)$/.test(value)) return;
    paths.set(value, paths.get(value) ?? { path: value, span, isNamed: underOutlast || named.test(name) });
  };
  for (const { name, value, span } of flags) add(name, value, span);
  for (const one of container.node.get("env")?.items ?? []) {
    const value = one.get("value");
    if (one.get("valueFrom")) {
      if (named.test(one.get("name")?.text ?? "")) isRemote = true;
    } else if (value?.text !== undefined) add(one.get("name")?.text ?? "", value.text, value);
  }
  if (!underOutlast && paths.size === 0) {
    for (const mount of container.node.get("volumeMounts")?.items ?? []) {
      const path = mount.get("mountPath");
      const name = mount.get("name")?.text ?? "";
      if (path?.text && (named.test(path.text) || named.test(name))) add("checkpoint", path.text, path);
    }
  }
  return { paths: [...paths.values()], isRemote };
}

/** `--flag value`, `--flag=value` and `name=value` among the arguments and in the script. */
function flagsOf(
  container: Container,
  template: PodTemplate,
  context: LintContext,
): { name: string; value: string; span: Span }[] {
  const found: { name: string; value: string; span: Span }[] = [];
  const read = (words: readonly { readonly text: string; readonly span: Span }[]): void => {
    for (const [i, { text, span }] of words.entries()) {
      const joined = /^-{0,2}([\w.-]+)=([^]+)$/.exec(text);
      const bare = /^-{1,2}([\w.-]+)$/.exec(text);
      const next = words[i + 1];
      if (joined) found.push({ name: joined[1] ?? "", value: joined[2] ?? "", span });
      else if (bare && next && !next.text.startsWith("-"))
        found.push({ name: bare[1] ?? "", value: next.text, span: next.span });
      else if (remote.test(text)) found.push({ name: "", value: text, span });
    }
  };
  const script = scriptOf(container, template, context.ofKind);
  if (script) {
    for (const command of script.commands) {
      const texts = commandWords(command);
      const spans = command.words.slice(command.words.length - texts.length);
      read(texts.map((text, i) => ({ text, span: spanInScript(script, spans[i]?.start ?? 0, spans[i]?.end ?? 0) })));
      if (remote.test(script.text)) found.push({ name: "", value: "gs://", span: script.node });
    }
  } else read(wordsOf(container).map((node) => ({ text: node.text ?? "", span: node })));
  return found;
}
