/** A value that carries the reason it is there. */
export class Why {
  readonly text: string;
  readonly value: Described;

  constructor(text: string, value: Described) {
    this.text = text;
    this.value = value;
  }
}

/** Data as it is written here: reasons anywhere, and keys that are left out when undefined. */
export type Described =
  | string
  | number
  | boolean
  | Why
  | readonly Described[]
  | { readonly [key: string]: Described | undefined };

/** Data as it is sent. */
export type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain | undefined };

/** Puts the reason for a field beside its value, where the next reader of the code and of the output needs it. */
export function why(text: string, value: Described): Why {
  return new Why(text, value);
}

/** Takes the reasons out: the data alone, and a comment for each place (a JSON pointer). */
export function separate(tree: Described): { readonly plain: Plain; readonly comments: ReadonlyMap<string, string> } {
  const comments = new Map<string, string>();
  const strip = (value: Described, at: string): Plain => {
    if (value instanceof Why) {
      comments.set(at, value.text);
      return strip(value.value, at);
    }
    if (isList(value)) return value.map((item, index) => strip(item, `${at}/${index}`));
    if (typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) =>
        inner === undefined ? [] : [[key, strip(inner, `${at}/${pointer(key)}`)]],
      ),
    );
  };
  return { plain: strip(tree, ""), comments };
}

/** A key as part of a JSON pointer. */
export function pointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function isList(value: Described): value is readonly Described[] {
  return Array.isArray(value);
}
