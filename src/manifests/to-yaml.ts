import { Document, isMap, isScalar, isSeq, type Node, type Scalar } from "yaml";
import type { ManifestObject } from "./types.ts";
import { pointer } from "./why.ts";

/** Words and beginnings that some YAML parser takes for something other than text. */
const ambiguous = /^(y|n|yes|no|on|off|true|false|null|~|e[-+]?\d+|)$|^[-+.\d=<]/i;

/** One object as commented YAML, without a document mark. */
export function objectToYaml({ object, purpose, comments }: ManifestObject): string {
  const document = new Document(object, { aliasDuplicateObjects: false });
  annotate(document.contents, "", comments);
  const body = document.toString({ lineWidth: 0, indentSeq: true });
  return `# ${purpose}\n${body}`;
}

/** Objects as one stream of YAML documents. */
export function toYaml(objects: readonly ManifestObject[]): string {
  return objects.map((one) => `---\n${objectToYaml(one)}`).join("");
}

function annotate(node: unknown, at: string, comments: ReadonlyMap<string, string>): void {
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      quote(key);
      const place = `${at}/${pointer(String(key.value))}`;
      say(key, comments.get(place));
      annotate(value, place, comments);
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      const place = `${at}/${index}`;
      say(item as Node, comments.get(place));
      annotate(item, place, comments);
    }
  } else if (isScalar(node)) quote(node);
}

function say(node: Node, comment: string | undefined): void {
  if (comment !== undefined) node.commentBefore = ` ${comment}`;
}

/** kubectl's parser reads YAML 1.1, others 1.2: what either could take for a number, a date or a switch is quoted. */
function quote(scalar: Scalar): void {
  if (typeof scalar.value === "string" && ambiguous.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
}
