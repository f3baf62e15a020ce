import type { ManifestEntry } from "./manifest.ts";

/** As many links as Linux follows; behind them there is nothing to reach. */
const mostFollowed = 40;

/**
 * What is wrong with a manifest's links; undefined when each, followed as the system would follow it, stays inside the directory, and nothing lies below
 * a link or a file. Reading one link's text is not enough: `a` → `b/..` stays inside by its text, but leads out if `b` is a link to the top.
 */
export function faultOfLinks(entries: readonly ManifestEntry[]): string | undefined {
  const links = new Map<string, string>();
  const files = new Set<string>();
  for (const entry of entries) {
    if (entry.type === "link") links.set(entry.path, entry.target);
    else if (entry.type === "file") files.add(entry.path);
    else if (entry.type !== "directory")
      return `names ${JSON.stringify((entry as ManifestEntry).path)}, of no known type`;
  }
  for (const { path } of entries) {
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
      const above = path.slice(0, at);
      if (links.has(above) || files.has(above))
        return `names ${JSON.stringify(path)}, below ${JSON.stringify(above)}, which is no directory`;
    }
  }
  for (const [path, target] of links) {
    if (!staysInside(path, target, links))
      return `names ${JSON.stringify(path)}, a link to ${JSON.stringify(target)}, out of the directory`;
  }
  return undefined;
}

/** Whether a link, followed as the system would follow it among these others, stays inside the directory. */
export function staysInside(path: string, target: unknown, links: ReadonlyMap<string, string>): boolean {
  if (typeof target !== "string" || !isRelative(target)) return false;
  const at = path.split("/").slice(0, -1);
  const todo = target.split("/").toReversed();
  let followed = 0;
  while (todo.length > 0) {
    const segment = todo.pop();
    if (segment === undefined || segment === "" || segment === ".") continue;
    if (segment === "..") {
      if (at.pop() === undefined) return false;
      continue;
    }
    at.push(segment);
    const next = links.get(at.join("/"));
    if (next === undefined) continue;
    if (!isRelative(next)) return false;
    followed += 1;
    if (followed > mostFollowed) return true;
    at.pop();
    todo.push(...next.split("/").toReversed());
  }
  return true;
}

function isRelative(target: string): boolean {
  return target !== "" && !target.startsWith("/") && !target.includes("\0");
}
