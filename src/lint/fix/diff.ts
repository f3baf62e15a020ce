/** A unified diff of two texts that differ in a few places; lines are compared as wholes. */
export function unifiedDiff(path: string, before: string, after: string): string {
  const a = before.split("\n");
  const b = after.split("\n");
  const hunks = group(changes(a, b), a, b);
  if (hunks.length === 0) return "";
  const name = path.replace(/^\/+/, "");
  return [`--- a/${name}`, `+++ b/${name}`, ...hunks].join("\n");
}

interface Change {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

/** Where the texts differ. After each change the nearest pair of equal lines ends it: edits of ours are small. */
function changes(a: readonly string[], b: readonly string[]): Change[] {
  const found: Change[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i += 1;
      j += 1;
      continue;
    }
    const [toA, toB] = meet(a, b, i, j);
    found.push({ fromA: i, toA, fromB: j, toB });
    i = toA;
    j = toB;
  }
  return found;
}

function meet(a: readonly string[], b: readonly string[], i: number, j: number): [number, number] {
  for (let distance = 1; distance <= 400; distance += 1) {
    for (let x = 0; x <= distance; x += 1) {
      const y = distance - x;
      const isEnd = i + x === a.length && j + y === b.length;
      // Two lines in a row, so that an empty line or a brace does not count as the end of a change.
      const isSame = a[i + x] === b[j + y] && a[i + x + 1] === b[j + y + 1];
      if (isEnd || (isSame && i + x < a.length && j + y < b.length)) return [i + x, j + y];
    }
  }
  return [a.length, b.length];
}

function group(list: readonly Change[], a: readonly string[], b: readonly string[]): string[] {
  const context = 2;
  const hunks: string[] = [];
  for (let i = 0; i < list.length; ) {
    let last = i;
    while (last + 1 < list.length && (list[last + 1]?.fromA ?? 0) - (list[last]?.toA ?? 0) <= 2 * context) last += 1;
    const some = list.slice(i, last + 1);
    const [first] = some;
    const end = some.at(-1);
    if (!first || !end) break;
    const startA = Math.max(0, first.fromA - context);
    const startB = Math.max(0, first.fromB - context);
    const endA = Math.min(a.length, end.toA + context);
    const lines: string[] = [];
    let at = startA;
    for (const { fromA, toA, fromB, toB } of some) {
      for (; at < fromA; at += 1) lines.push(` ${a[at] ?? ""}`);
      for (; at < toA; at += 1) lines.push(`-${a[at] ?? ""}`);
      for (let k = fromB; k < toB; k += 1) lines.push(`+${b[k] ?? ""}`);
    }
    for (; at < endA; at += 1) lines.push(` ${a[at] ?? ""}`);
    const countB = lines.filter((line) => !line.startsWith("-")).length;
    hunks.push(`@@ -${startA + 1},${endA - startA} +${startB + 1},${countB} @@`, ...lines);
    i = last + 1;
  }
  return hunks;
}
