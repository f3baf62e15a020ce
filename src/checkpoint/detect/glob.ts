import { OutlastError } from "../../core/index.ts";

/**
 * Compiles a pattern over `/`-separated paths: `*` and `?` stay within a name, `**` crosses folders, `[abc]` is a set,
 * `{a,b}` a choice, `\` takes the next character as it is.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  if (pattern === "" || pattern.startsWith("/") || pattern.split("/").includes("..")) {
    throw new OutlastError(
      "OUTLAST_USAGE",
      `the pattern ${JSON.stringify(pattern)} is not a path below the directory`,
      {
        hint: "patterns are relative to --dir, such as 'step-*/DONE'",
      },
    );
  }
  try {
    const expression = new RegExp(`^${translate(pattern)}$`, "us");
    return (path) => expression.test(path);
  } catch (cause) {
    throw new OutlastError("OUTLAST_USAGE", `the pattern ${JSON.stringify(pattern)} has an unclosed [ or {`, {
      cause,
      hint: "put a backslash before a bracket that is part of a name",
    });
  }
}

function translate(pattern: string): string {
  let out = "";
  let depth = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? "";
    if (pattern.startsWith("**/", at)) {
      out += "(?:[^/]+/)*";
      at += 2;
    } else if (pattern.startsWith("**", at)) {
      out += ".*";
      at += 1;
    } else if (character === "*") out += "[^/]*";
    else if (character === "?") out += "[^/]";
    else if (character === "[") {
      const end = pattern.indexOf("]", at + 2);
      if (end < 0) throw new SyntaxError("unclosed [");
      const set = pattern
        .slice(at + 1, end)
        .replace(/^!/, "^")
        .replace(/[\\[\]&|~]/g, "\\$&");
      out += `[${set}]`;
      at = end;
    } else if (character === "{") {
      out += "(?:";
      depth += 1;
    } else if (character === "}" && depth > 0) {
      out += ")";
      depth -= 1;
    } else if (character === "," && depth > 0) out += "|";
    else if (character === "\\" && at + 1 < pattern.length) {
      at += 1;
      out += quote(pattern[at] ?? "");
    } else out += quote(character);
  }
  if (depth > 0) throw new SyntaxError("unclosed {");
  return out;
}

function quote(character: string): string {
  return character.replace(/[$()*+.?[\\\]^{|}/]/u, "\\$&");
}
