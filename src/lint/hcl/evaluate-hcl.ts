import type { Expression } from "./syntax.ts";

/** A value that is known, or `undefined` where only Terraform could know it. */
export type HclValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly HclValue[]
  | { readonly [name: string]: HclValue };

/** What names stand for: `var`, `local`, `each` and iterators. Values are looked up when needed. */
export type Scope = ReadonlyMap<string, HclValue | ((name: string) => HclValue)>;

/** Evaluates what can be known from the text alone. */
export function evaluate(expression: Expression, scope: Scope, depth = 0): HclValue {
  if (depth > 80) return undefined;
  const inner = (one: Expression): HclValue => evaluate(one, scope, depth + 1);
  switch (expression.kind) {
    case "literal":
      return expression.value;
    case "template":
      return joined(expression.parts.map((part) => (typeof part === "string" ? part : inner(part))));
    case "list":
      return expression.items.map(inner);
    case "map": {
      const map: Record<string, HclValue> = {};
      for (const [key, value] of expression.entries) {
        const name = inner(key);
        if (typeof name === "string" || typeof name === "number") map[String(name)] = inner(value);
      }
      return map;
    }
    case "reference":
      return lookUp(expression.path, scope);
    case "choice": {
      const test = inner(expression.test);
      return typeof test === "boolean" ? inner(test ? expression.yes : expression.no) : undefined;
    }
    case "call":
      return call(expression.name, expression.args, inner);
    case "unknown":
      return undefined;
  }
}

function joined(parts: readonly HclValue[]): string | undefined {
  let text = "";
  for (const part of parts) {
    if (typeof part !== "string" && typeof part !== "number" && typeof part !== "boolean") return undefined;
    text += String(part);
  }
  return text;
}

function lookUp(path: readonly string[], scope: Scope): HclValue {
  const [root = "", ...rest] = path;
  const found = scope.get(root);
  let value: HclValue;
  if (typeof found === "function") value = rest.length > 0 ? found(rest.shift() ?? "") : undefined;
  else value = found;
  for (const name of rest) value = childOf(value, name);
  return value;
}

/** A member of a map or list. */
export function childOf(value: HclValue, name: string): HclValue {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return (value as readonly HclValue[])[Number(name)];
  return Object.hasOwn(value, name) ? (value as { readonly [name: string]: HclValue })[name] : undefined;
}

function call(name: string, args: readonly Expression[], inner: (one: Expression) => HclValue): HclValue {
  const values = args.map(inner);
  const [first, second, third] = values;
  switch (name) {
    case "==":
      return isPlain(first) && isPlain(second) ? first === second : undefined;
    case "!=":
      return isPlain(first) && isPlain(second) ? first !== second : undefined;
    case "lookup":
      return (typeof second === "string" ? childOf(first, second) : undefined) ?? third;
    case "try":
    case "coalesce":
      return values.find((value) => value !== undefined && value !== null);
    case "tostring":
      return isPlain(first) && first !== null ? String(first) : undefined;
    case "toset":
    case "tolist":
    case "tomap":
    case "tonumber":
    case "tobool":
    case "sensitive":
    case "nonsensitive":
      return first;
    case "merge":
      return values.every((value) => typeof value === "object" && value !== null)
        ? Object.assign({}, ...values)
        : undefined;
    case "concat":
      return values.every((value) => Array.isArray(value)) ? (values as (readonly HclValue[])[]).flat() : undefined;
    default:
      return undefined;
  }
}

function isPlain(value: HclValue): value is string | number | boolean | null {
  return value !== undefined && (typeof value !== "object" || value === null);
}
