/** A block as read back: its head, its attributes, the blocks within. */
export interface ReadBlock {
  readonly head: string;
  readonly attributes: Record<string, unknown>;
  readonly blocks: ReadBlock[];
}

/** Reads the part of HCL that we write; refuses anything else, with its line. */
export function readHcl(text: string): ReadBlock[] {
  const root: ReadBlock = { head: "", attributes: {}, blocks: [] };
  const open: ReadBlock[] = [root];
  for (const [index, line] of text.split("\n").entries()) {
    const trimmed = line.trim();
    const current = open.at(-1);
    if (!current) throw new Error(`line ${index + 1}: closed too often`);
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const head = /^([a-z_]+(?: "[A-Za-z0-9_-]+")*) \{$/.exec(trimmed)?.[1];
    const [, key, value] = /^([a-z_]+) += (.+)$/.exec(trimmed) ?? [];
    if (trimmed === "}") open.pop();
    else if (head !== undefined) {
      const block: ReadBlock = { head, attributes: {}, blocks: [] };
      current.blocks.push(block);
      open.push(block);
    } else if (key !== undefined && value !== undefined) {
      if (key in current.attributes) throw new Error(`line ${index + 1}: ${key} twice`);
      current.attributes[key] = valueOf(value);
    } else throw new Error(`line ${index + 1}: cannot be read: ${line}`);
  }
  if (open.length !== 1) throw new Error("a block is not closed");
  return root.blocks;
}

/** Strings, numbers, booleans, lists and maps of strings; an unescaped template is refused. */
function valueOf(text: string): unknown {
  if (/(^|[^$])\$\{|(^|[^%])%\{/.test(text)) throw new Error(`a template: ${text}`);
  if (text.startsWith("{")) return JSON.parse(text.replaceAll(/" = "/g, '": "')) as unknown;
  return JSON.parse(text.replaceAll("$${", "${").replaceAll("%%{", "%{")) as unknown;
}
