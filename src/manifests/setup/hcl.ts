/** A value of HCL. */
export type HclValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** A block: attributes first, then blocks within it. */
export interface HclBlock {
  readonly type: string;
  readonly labels?: readonly string[];
  readonly comment?: string;
  readonly attributes?: Readonly<Record<string, HclValue | undefined>>;
  readonly blocks?: readonly (HclBlock | undefined)[];
}

/** A block as `terraform fmt` would write it. */
export function toHcl(block: HclBlock, indent = ""): string {
  const { type, labels = [], comment, attributes = {}, blocks = [] } = block;
  const inner = `${indent}  `;
  const given = Object.entries(attributes).filter((entry): entry is [string, HclValue] => entry[1] !== undefined);
  const width = Math.max(0, ...given.map(([key]) => key.length));
  const lines = given.map(([key, value]) => `${inner}${key.padEnd(width)} = ${valueOf(value)}`);
  const nested = blocks.flatMap((one) => (one ? [toHcl(one, inner)] : []));
  const head = [type, ...labels.map((label) => JSON.stringify(label))].join(" ");
  const parts = [...(lines.length > 0 ? [`${lines.join("\n")}\n`] : []), ...nested];
  return `${comment === undefined ? "" : `${indent}# ${comment}\n`}${indent}${head} {\n${parts.join("\n")}${indent}}\n`;
}

function valueOf(value: HclValue): string {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object") return String(value);
  if (isList(value)) return `[${value.map(text).join(", ")}]`;
  const entries = Object.entries(value).map(([key, one]) => `${text(key)} = ${text(one)}`);
  return `{ ${entries.join(", ")} }`;
}

function isList(value: readonly string[] | Readonly<Record<string, string>>): value is readonly string[] {
  return Array.isArray(value);
}

/** A quoted string in which nothing is taken for a template. */
function text(value: string): string {
  // Functions, because "$$" in a replacement text stands for one "$".
  return JSON.stringify(value)
    .replaceAll("${", () => "$${")
    .replaceAll("%{", () => "%%{");
}
