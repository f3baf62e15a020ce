import { parseShell, rawText, type ShellCommand } from "../shell/parse-shell.ts";
import type { KubeObject } from "../source/kube-object.ts";
import type { Node } from "../source/node.ts";
import type { Span } from "../source/source-file.ts";
import type { Container, PodTemplate } from "./pod-template.ts";

/** Shell text that a container runs. */
export interface Script {
  /** `sh`, `bash` … */
  readonly shell: string;
  readonly node: Node;
  readonly text: string;
  readonly commands: readonly ShellCommand[];
  /** A file that the shell reads, rather than `-c`: its last command is never taken over by exec. */
  readonly isFile: boolean;
  /** `-o pipefail` among the shell's own options. */
  readonly hasPipefail: boolean;
}

const shells = new Set(["sh", "bash", "ash", "dash", "zsh", "ksh"]);

/** The words a container is started with. */
export function wordsOf({ command, args }: Container): readonly Node[] {
  return [...command, ...args];
}

const cache = new WeakMap<Node, Script | null>();

/** The script of a container: what follows `sh -c`, or a mounted ConfigMap's file when the objects hold it. */
export function scriptOf(
  container: Container,
  template: PodTemplate,
  objects: (kind: string) => readonly KubeObject[],
): Script | undefined {
  const known = cache.get(container.node);
  if (known !== undefined) return known ?? undefined;
  const made = readScript(container, template, objects);
  cache.set(container.node, made ?? null);
  return made;
}

function readScript(
  container: Container,
  template: PodTemplate,
  objects: (kind: string) => readonly KubeObject[],
): Script | undefined {
  const words = wordsOf(container);
  const [first] = words;
  const shell = baseName(first?.text ?? "");
  if (!shells.has(shell)) return undefined;
  let hasPipefail = false;
  for (let i = 1; i < words.length; i += 1) {
    const word = words[i]?.text ?? "";
    if (word === "pipefail") hasPipefail = true;
    if (/^-[a-zA-Z]*c$/.test(word)) {
      const node = words[i + 1];
      return node?.text === undefined ? undefined : make(shell, node, node.text, false, hasPipefail);
    }
    if (/^[-+]/.test(word) || word === "pipefail") continue;
    const found = mountedFile(word, container, template, objects);
    return found?.text === undefined ? undefined : make(shell, found, found.text, true, hasPipefail);
  }
  return undefined;
}

function make(shell: string, node: Node, text: string, isFile: boolean, hasPipefail: boolean): Script {
  // A script of more than this is data in disguise.
  const commands = text.length > 200_000 ? [] : parseShell(text);
  return { shell, node, text, commands, isFile, hasPipefail };
}

function mountedFile(
  path: string,
  container: Container,
  template: PodTemplate,
  objects: (kind: string) => readonly KubeObject[],
): Node | undefined {
  for (const mount of container.node.get("volumeMounts")?.items ?? []) {
    const at = mount.get("mountPath")?.text;
    if (!at || !path.startsWith(at)) continue;
    const volume = template.spec.get("volumes")?.items.find((one) => one.get("name")?.text === mount.get("name")?.text);
    const name = volume?.get("configMap", "name")?.text;
    const map = name ? objects("ConfigMap").find((one) => one.name === name) : undefined;
    const file = mount.get("subPath")?.text ?? path.slice(at.length).replace(/^\//, "");
    const found = map?.node.get("data", file);
    if (found) return found;
  }
  return undefined;
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The words of a command as text, leading assignments left out. */
export function commandWords({ words }: ShellCommand): string[] {
  const texts = words.map(rawText);
  const first = texts.findIndex((text) => !/^[A-Za-z_]\w*=/.test(text));
  return first < 0 ? [] : texts.slice(first);
}

/** Where an offset of a script's text stands in the file; the whole scalar where that cannot be said. */
export function spanInScript({ node, text }: Script, start: number, end: number): Span & { readonly isExact: boolean } {
  const { file } = node;
  const source = file.text.slice(node.start, node.end);
  if (node.style === "literal") {
    const line = text.slice(0, start).split("\n").length;
    const column = start - (text.lastIndexOf("\n", start - 1) + 1);
    const first = file.position(node.start).line + line;
    const written = file.lineText(first);
    const own = text.split("\n")[line - 1] ?? "";
    if (own !== "" && written.endsWith(own)) {
      const at = file.startOfLine(first) + written.length - own.length + column;
      return { file, start: at, end: at + Math.min(end - start, own.length - column), isExact: true };
    }
  }
  const quote = node.style === "quoted" ? 1 : 0;
  if ((node.style === "plain" || node.style === "quoted") && source.slice(quote, source.length - quote) === text) {
    return { file, start: node.start + quote + start, end: node.start + quote + end, isExact: true };
  }
  return { file, start: node.start, end: Math.min(node.end, node.start + 1), isExact: false };
}

const trainers =
  /^(?:python[\d.]*|torchrun|accelerate|deepspeed|mpirun|mpiexec|horovodrun|node|java|julia|ray|vllm|uvicorn|gunicorn|tritonserver|outlast|composer|colossalai|trtllm-serve|text-generation-launcher|jax|lightning|fabric)$/;

/** Whether a command is the kind that runs for long. */
export function isLongRunning(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? "");
  if (name.startsWith("python") && words.includes("-c")) return false;
  if (/^(?:python|pip)/.test(name) && words.includes("pip")) return false;
  return trainers.test(name) || /\.(?:py|sh)$/.test(name);
}

/** Whether a container runs under outlast itself, which knows the window and forwards signals. */
export function runsOutlast(container: Container): boolean {
  return (
    wordsOf(container).some((word) => /(?:^|[\s/])outlast\s+(?:run|work)\b/.test(word.text ?? "")) ||
    baseName(wordsOf(container)[0]?.text ?? "") === "outlast"
  );
}
