import type { Attribute, Block, Body, Expression } from "./syntax.ts";
import { type Token, tokenizeHcl } from "./tokenize-hcl.ts";

/** Deeper than any real configuration. */
const deepest = 60;

/** Reads the part of Terraform's language that declares things. What it does not understand it steps over; never throws. */
export function parseHcl(text: string): Body {
  return new HclParser(tokenizeHcl(text)).body(0, true);
}

class HclParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  body(depth: number, isTop: boolean): Body {
    const attributes: Attribute[] = [];
    const blocks: Block[] = [];
    for (let token = this.#peek(); token; token = this.#peek()) {
      if (token.text === "}" && token.kind === "sign") {
        this.#at += 1;
        if (!isTop) break;
        continue;
      }
      if (token.kind !== "word") {
        this.#at += 1;
        continue;
      }
      this.#at += 1;
      if (this.#isSign("=")) {
        this.#at += 1;
        const value = this.#expression(depth);
        attributes.push({
          name: token.text,
          value,
          start: token.start,
          end: this.#tokens[this.#at - 1]?.end ?? token.end,
        });
        continue;
      }
      const labels: string[] = [];
      for (
        let label = this.#peek();
        label && (label.kind === "string" || label.kind === "word");
        label = this.#peek()
      ) {
        labels.push(label.kind === "string" ? label.text : label.text);
        this.#at += 1;
      }
      if (!this.#isSign("{")) continue;
      const open = this.#peek();
      this.#at += 1;
      if (depth >= deepest) {
        this.#skipTo("}");
        continue;
      }
      const inner = this.body(depth + 1, false);
      blocks.push({ type: token.text, labels, body: inner, start: token.start, end: open?.end ?? token.end });
    }
    return { attributes, blocks };
  }

  #expression(depth: number): Expression {
    this.#skipLines();
    const first = this.#primary(depth);
    const next = this.#peek();
    if (next?.kind !== "sign") return first;
    if (depth >= deepest) return { kind: "unknown", start: first.start };
    if (next.text === "?") {
      this.#at += 1;
      const yes = this.#expression(depth + 1);
      this.#skipLines();
      if (!this.#isSign(":")) return { kind: "unknown", start: first.start };
      this.#at += 1;
      return { kind: "choice", test: first, yes, no: this.#expression(depth + 1), start: first.start };
    }
    if (/^(?:==|!=|&&|\|\||[-+*/%<>]=?|!)$/.test(next.text) && depth < deepest) {
      this.#at += 1;
      const second = this.#expression(depth + 1);
      const name = next.text === "==" || next.text === "!=" ? next.text : "";
      // `a == b ? c : d` was read as `a == (b ? c : d)`.
      if (second.kind === "choice")
        return { ...second, test: { kind: "call", name, args: [first, second.test], start: first.start } };
      return name
        ? { kind: "call", name, args: [first, second], start: first.start }
        : { kind: "unknown", start: first.start };
    }
    return first;
  }

  #primary(depth: number): Expression {
    const token = this.#peek();
    if (!token) return { kind: "unknown", start: 0 };
    const { start } = token;
    this.#at += 1;
    if (token.kind === "number") return { kind: "literal", value: Number(token.text), start };
    if (token.kind === "string") return this.#suffix(stringExpression(token), depth);
    if (token.kind === "word") return this.#word(token, depth);
    if (depth >= deepest) return { kind: "unknown", start };
    if (token.text === "[") return this.#suffix(this.#list(start, depth), depth);
    if (token.text === "{") return this.#suffix(this.#map(start, depth), depth);
    if (token.text === "(") {
      const inner = this.#expression(depth + 1);
      this.#skipTo(")");
      return this.#suffix(inner, depth);
    }
    if (token.text === "-" || token.text === "!") {
      const inner = this.#primary(depth + 1);
      if (inner.kind !== "literal") return { kind: "unknown", start };
      if (token.text === "-" && typeof inner.value === "number") return { ...inner, value: -inner.value };
      return typeof inner.value === "boolean" ? { ...inner, value: !inner.value } : { kind: "unknown", start };
    }
    // Not an expression at all: leave the sign to whoever opened it.
    if (token.text === "}" || token.text === "]" || token.text === ")" || token.text === "\n") this.#at -= 1;
    return { kind: "unknown", start };
  }

  #word(token: Token, depth: number): Expression {
    const { start, text } = token;
    if (text === "true" || text === "false") return { kind: "literal", value: text === "true", start };
    if (text === "null") return { kind: "literal", value: null, start };
    if (this.#isSign("(")) {
      this.#at += 1;
      const args: Expression[] = [];
      while (this.#peek() && !this.#isSign(")") && depth < deepest) {
        const before = this.#at;
        args.push(this.#expression(depth + 1));
        this.#skipLines();
        while (this.#isSign(",") || this.#isSign("...") || this.#isSign("\n")) this.#at += 1;
        if (this.#at === before) this.#at += 1;
      }
      this.#skipTo(")");
      return this.#suffix({ kind: "call", name: text, args, start }, depth);
    }
    return this.#suffix({ kind: "reference", path: [text], start }, depth);
  }

  /** `.name`, `[0]`, `["name"]` behind a value. */
  #suffix(base: Expression, depth: number): Expression {
    let value = base;
    for (let token = this.#peek(); token?.kind === "sign"; token = this.#peek()) {
      if (token.text === ".") {
        const name = this.#tokens[this.#at + 1];
        if (!name || (name.kind !== "word" && name.kind !== "number" && name.text !== "*")) break;
        this.#at += 2;
        value =
          value.kind === "reference" && name.text !== "*"
            ? { ...value, path: [...value.path, name.text] }
            : { kind: "unknown", start: value.start };
      } else if (token.text === "[" && depth < deepest) {
        this.#at += 1;
        const index = this.#expression(depth + 1);
        this.#skipTo("]");
        const key = index.kind === "literal" ? String(index.value) : undefined;
        value =
          value.kind === "reference" && key !== undefined
            ? { ...value, path: [...value.path, key] }
            : { kind: "unknown", start: value.start };
      } else break;
    }
    return value;
  }

  #list(start: number, depth: number): Expression {
    const items: Expression[] = [];
    this.#skipLines();
    if (this.#isWord("for")) {
      this.#skipTo("]");
      return { kind: "unknown", start };
    }
    while (this.#peek() && !this.#isSign("]")) {
      const before = this.#at;
      items.push(this.#expression(depth + 1));
      while (this.#isSign(",") || this.#isSign("\n")) this.#at += 1;
      if (this.#at === before) this.#at += 1;
    }
    this.#at += 1;
    return { kind: "list", items, start };
  }

  #map(start: number, depth: number): Expression {
    const entries: (readonly [Expression, Expression])[] = [];
    this.#skipLines();
    if (this.#isWord("for")) {
      this.#skipTo("}");
      return { kind: "unknown", start };
    }
    while (this.#peek() && !this.#isSign("}")) {
      const before = this.#at;
      const key = this.#primary(depth + 1);
      if (this.#isSign("=") || this.#isSign(":")) {
        this.#at += 1;
        const named: Expression =
          key.kind === "reference" && key.path.length === 1
            ? { kind: "literal", value: key.path[0] ?? "", start: key.start }
            : key;
        entries.push([named, this.#expression(depth + 1)]);
      }
      while (this.#isSign(",") || this.#isSign("\n")) this.#at += 1;
      if (this.#at === before) this.#at += 1;
    }
    this.#at += 1;
    return { kind: "map", entries, start };
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #isSign(text: string): boolean {
    const token = this.#peek();
    return token?.kind === "sign" && token.text === text;
  }

  #isWord(text: string): boolean {
    const token = this.#peek();
    return token?.kind === "word" && token.text === text;
  }

  #skipLines(): void {
    while (this.#isSign("\n")) this.#at += 1;
  }

  /** Moves past the sign that closes what is open here. */
  #skipTo(close: string): void {
    let depth = 0;
    for (let token = this.#peek(); token; token = this.#peek()) {
      this.#at += 1;
      if (token.kind !== "sign") continue;
      if (depth === 0 && token.text === close) return;
      if (token.text === "(" || token.text === "[" || token.text === "{") depth += 1;
      else if (token.text === ")" || token.text === "]" || token.text === "}") depth -= 1;
      if (depth < 0) return;
    }
  }
}

function stringExpression({ text, start, holes }: Token): Expression {
  if (!holes || holes.length === 0) return { kind: "literal", value: text, start };
  const parts: (string | Expression)[] = [];
  let last = 0;
  for (const hole of holes) {
    parts.push(text.slice(last, hole.start));
    const path = /^[A-Za-z_][\w-]*(?:\.[\w-]+)*$/.exec(text.slice(hole.start + 2, hole.end - 1).trim());
    parts.push(path ? { kind: "reference", path: path[0].split("."), start } : { kind: "unknown", start });
    last = hole.end;
  }
  parts.push(text.slice(last));
  return { kind: "template", parts, start };
}
