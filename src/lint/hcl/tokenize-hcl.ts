/** A piece of Terraform text. */
export interface Token {
  readonly kind: "word" | "number" | "string" | "sign";
  /** For a string: what stands between its quotes, escapes resolved. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Where `${…}` stands in a string's text. */
  readonly holes?: readonly { readonly start: number; readonly end: number }[];
}

/** Cuts Terraform text into tokens; comments are dropped, here-documents become strings. Linear, never throws. */
export function tokenizeHcl(text: string): Token[] {
  const tokens: Token[] = [];
  let i = 0;
  while (i < text.length) {
    const char = text[i] ?? "";
    const two = text.slice(i, i + 2);
    if (char === "\n") {
      tokens.push({ kind: "sign", text: "\n", start: i, end: i + 1 });
      i += 1;
    } else if (/\s/.test(char)) i += 1;
    else if (char === "#" || two === "//") i = endOf(text, "\n", i);
    else if (two === "/*") i = endOf(text, "*/", i) + 2;
    else if (char === '"') {
      const token = readString(text, i);
      tokens.push(token);
      i = token.end;
    } else if (two === "<<") {
      const token = readHeredoc(text, i);
      tokens.push(token);
      i = token.end;
    } else if (/[A-Za-z_]/.test(char)) {
      const word = take(text, i, /[\w-]/);
      tokens.push({ kind: "word", text: word, start: i, end: i + word.length });
      i += word.length;
    } else if (/\d/.test(char)) {
      const number = take(text, i, /[\d.eE]/).replace(/\.+$/, "");
      tokens.push({ kind: "number", text: number, start: i, end: i + number.length });
      i += number.length;
    } else {
      const three = text.slice(i, i + 3);
      const sign = three === "..." ? three : /^(?:==|!=|<=|>=|&&|\|\||=>)$/.test(two) ? two : char;
      tokens.push({ kind: "sign", text: sign, start: i, end: i + sign.length });
      i += sign.length;
    }
  }
  return tokens;
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? text.length : at;
}

function take(text: string, from: number, allowed: RegExp): string {
  let end = from;
  while (end < text.length && allowed.test(text[end] ?? "")) end += 1;
  return text.slice(from, Math.max(end, from + 1));
}

function readString(text: string, from: number): Token {
  let value = "";
  const holes: { start: number; end: number }[] = [];
  let i = from + 1;
  while (i < text.length && text[i] !== '"' && text[i] !== "\n") {
    if (text[i] === "\\") {
      const next = text[i + 1] ?? "";
      value += next === "n" ? "\n" : next === "t" ? "\t" : next;
      i += 2;
    } else if ((text[i] === "$" || text[i] === "%") && text[i + 1] === "{" && text[i - 1] !== text[i]) {
      const end = endOfHole(text, i + 1);
      const hole = text.slice(i, end);
      holes.push({ start: value.length, end: value.length + hole.length });
      value += hole;
      i = end;
    } else {
      value += text[i];
      i += 1;
    }
  }
  return { kind: "string", text: value, start: from, end: Math.min(i + 1, text.length), holes };
}

/** Past the brace that closes the one at `from`; quotes inside may hold braces of their own. */
function endOfHole(text: string, from: number): number {
  let depth = 0;
  let isQuoted = false;
  let i = from;
  for (; i < text.length && text[i] !== "\n"; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (text[i] === "{") depth += 1;
    else if (text[i] === "}") {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return i;
}

function readHeredoc(text: string, from: number): Token {
  const head = /^<<-?([A-Za-z_]\w*)[^\n]*\n/.exec(text.slice(from, from + 200));
  if (!head) return { kind: "sign", text: "<<", start: from, end: from + 2 };
  const begin = from + head[0].length;
  let i = begin;
  while (i < text.length) {
    const end = endOf(text, "\n", i);
    if (text.slice(i, end).trim() === head[1]) return { kind: "string", text: text.slice(begin, i), start: from, end };
    i = end + 1;
  }
  return { kind: "string", text: text.slice(begin), start: from, end: text.length };
}
