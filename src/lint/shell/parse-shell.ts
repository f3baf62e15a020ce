/** A piece of a word: text as it is, a variable, or something only a shell can know. */
export type WordPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "variable"; readonly name: string; readonly fallback: string | undefined }
  | { readonly kind: "dynamic" };

/** One word of a command. */
export interface Word {
  readonly parts: readonly WordPart[];
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
}

/** A simple command between two operators. */
export interface ShellCommand {
  readonly words: readonly Word[];
  readonly start: number;
  readonly end: number;
  /** The operator before it: `;`, `&&`, `||`, `|`, `(`, a newline, or nothing. */
  readonly before: string;
  /** The operator after it; `&` is the background. */
  readonly after: string;
  /** Stands inside `if`, `for`, `while`, `case`, braces or parentheses. */
  readonly isNested: boolean;
}

const openers = new Set(["if", "for", "while", "until", "case", "{", "select"]);
const closers = new Set(["fi", "done", "esac", "}"]);
const passing = new Set(["then", "do", "else", "elif", "!", "time"]);

/** Cuts shell text into commands. It knows quotes, continuation lines, comments, here-documents and substitutions; never throws. */
export function parseShell(text: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let words: Word[] = [];
  let before = "";
  let depth = 0;
  let skipNext = false;
  const heredocs: { readonly mark: string; readonly dash: boolean }[] = [];
  const finish = (operator: string): void => {
    let from = 0;
    let nested = depth > 0;
    for (; from < words.length; from += 1) {
      const word = words[from];
      const head = word && !word.isQuoted ? rawText(word) : "";
      if (openers.has(head)) {
        depth += 1;
        nested = true;
        // `for x in …` and `case x in` hold words, not a command.
        if (head === "for" || head === "case" || head === "select") from = words.length;
      } else if (closers.has(head)) {
        depth = Math.max(0, depth - 1);
        nested = true;
      } else if (!passing.has(head)) break;
    }
    const list = words.slice(from);
    words = [];
    const [first] = list;
    const last = list.at(-1);
    if (first && last) {
      commands.push({ words: list, start: first.start, end: last.end, before, after: operator, isNested: nested });
    } else {
      const previous = commands.at(-1);
      // `done | tee log`: what follows belongs to the whole compound.
      if (previous && previous.after === "" && operator !== "")
        commands[commands.length - 1] = { ...previous, after: operator };
    }
    before = operator;
  };

  let i = 0;
  while (i < text.length) {
    const char = text[i] ?? "";
    if (char === "\\" && text[i + 1] === "\n") i += 2;
    else if (char === "\\" && text.startsWith("\r\n", i + 1)) i += 3;
    else if (char === " " || char === "\t" || char === "\r") i += 1;
    else if (char === "#") {
      const end = text.indexOf("\n", i);
      i = end < 0 ? text.length : end;
    } else if (char === "\n") {
      finish("\n");
      i += 1;
      while (heredocs.length > 0) {
        const heredoc = heredocs.shift();
        if (heredoc) i = skipHeredoc(text, i, heredoc);
      }
    } else if (char === "<" || char === ">" || (char === "&" && text[i + 1] === ">")) {
      const heredoc = /^<<(-?)\s*(?:"([^"\n]*)"|'([^'\n]*)'|([\w.-]+))/.exec(text.slice(i, i + 200));
      if (heredoc && text[i + 2] !== "<") {
        heredocs.push({ mark: heredoc[2] ?? heredoc[3] ?? heredoc[4] ?? "", dash: heredoc[1] === "-" });
        i += heredoc[0].length;
      } else {
        const sign = /^(?:&>>?|<<<|<>|>>|>\||[<>]&?)(?:[\d-]+(?![\w./]))?/.exec(text.slice(i, i + 20));
        const width = Math.max(1, sign?.[0].length ?? 1);
        skipNext = !/[\d-]$/.test(sign?.[0] ?? "");
        i += width;
      }
    } else if (char === ";" || char === "&" || char === "|" || char === "(" || char === ")") {
      const two = text.slice(i, i + 2);
      const operator = two === "&&" || two === "||" || two === ";;" || two === "|&" ? two : char;
      finish(operator === "|&" ? "|" : operator);
      if (operator === "(") depth += 1;
      if (operator === ")") depth = Math.max(0, depth - 1);
      i += operator.length;
    } else {
      const { word, next } = readWord(text, i);
      if (skipNext) skipNext = false;
      // A bare number right before a redirection is its file descriptor.
      else if (!(/^[012]$/.test(rawText(word)) && (text[next] === ">" || text[next] === "<"))) words.push(word);
      i = Math.max(next, i + 1);
    }
  }
  finish("");
  return commands;
}

function skipHeredoc(text: string, from: number, heredoc: { readonly mark: string; readonly dash: boolean }): number {
  let i = from;
  while (i < text.length) {
    const end = text.indexOf("\n", i);
    const line = text.slice(i, end < 0 ? undefined : end).replace(/\r$/, "");
    i = end < 0 ? text.length : end + 1;
    if ((heredoc.dash ? line.replace(/^\t+/, "") : line) === heredoc.mark) break;
  }
  return i;
}

function readWord(text: string, from: number): { readonly word: Word; readonly next: number } {
  const parts: WordPart[] = [];
  let plain = "";
  let isQuoted = false;
  let i = from;
  const flush = (): void => {
    if (plain !== "") parts.push({ kind: "text", text: plain });
    plain = "";
  };
  const dollar = (): void => {
    const found = readDollar(text, i);
    if (found.part) {
      flush();
      parts.push(found.part);
    } else plain += "$";
    i = found.next;
  };
  while (i < text.length) {
    const char = text[i] ?? "";
    if (/[\s;&|()<>]/.test(char)) break;
    if (char === "\\") {
      if (text[i + 1] !== "\n") plain += text[i + 1] ?? "";
      i += 2;
    } else if (char === "'") {
      const end = text.indexOf("'", i + 1);
      plain += text.slice(i + 1, end < 0 ? undefined : end);
      isQuoted = true;
      i = end < 0 ? text.length : end + 1;
    } else if (char === '"') {
      isQuoted = true;
      i += 1;
      while (i < text.length && text[i] !== '"') {
        if (text[i] === "\\") {
          if (text[i + 1] !== "\n") plain += text[i + 1] ?? "";
          i += 2;
        } else if (text[i] === "$") dollar();
        else {
          plain += text[i];
          i += 1;
        }
      }
      i += 1;
    } else if (char === "$") dollar();
    else if (char === "`") {
      const end = text.indexOf("`", i + 1);
      flush();
      parts.push({ kind: "dynamic" });
      i = end < 0 ? text.length : end + 1;
    } else {
      plain += char;
      i += 1;
    }
  }
  flush();
  return { word: { parts, start: from, end: Math.min(i, text.length), isQuoted }, next: i };
}

function readDollar(text: string, at: number): { readonly part: WordPart | undefined; readonly next: number } {
  const rest = text.slice(at, at + 200);
  const name = /^\$([A-Za-z_]\w*)/.exec(rest);
  if (name) return { part: { kind: "variable", name: name[1] ?? "", fallback: undefined }, next: at + name[0].length };
  const braced = /^\$\{([A-Za-z_]\w*)(?:(:?[-=])([^{}$"'`]*))?\}/.exec(rest);
  if (braced) {
    return { part: { kind: "variable", name: braced[1] ?? "", fallback: braced[3] }, next: at + braced[0].length };
  }
  const open = text[at + 1];
  if (open === "(" || open === "{") {
    const close = open === "(" ? ")" : "}";
    let depth = 0;
    let i = at + 1;
    while (i < text.length) {
      if (text[i] === open) depth += 1;
      else if (text[i] === close) depth -= 1;
      i += 1;
      if (depth === 0) break;
    }
    return { part: { kind: "dynamic" }, next: i };
  }
  if (open !== undefined && /[\d?#*@!$-]/.test(open)) return { part: { kind: "dynamic" }, next: at + 2 };
  return { part: undefined, next: at + 1 };
}

/** A word as it stands, variables by their names. */
export function rawText(word: Word): string {
  return word.parts
    .map((part) => (part.kind === "text" ? part.text : part.kind === "variable" ? `\${${part.name}}` : "$(…)"))
    .join("");
}

/** A word with its variables filled in; undefined when one of them is not known. */
export function expandWord(word: Word, variables: ReadonlyMap<string, string | undefined>): string | undefined {
  let text = "";
  for (const part of word.parts) {
    if (part.kind === "text") text += part.text;
    else {
      const value = part.kind === "variable" ? (variables.get(part.name) ?? part.fallback) : undefined;
      if (value === undefined) return undefined;
      text += value;
    }
  }
  return text;
}
