import { OutlastError } from "../core/index.ts";

/** Where the directory store keeps files that are still being written; no key may begin with it. */
export const asideFolder = ".outlast-tmp";

const segmentPattern = /^[A-Za-z0-9._-]+$/;
const longestKey = 512;

/** Whether `name` may be one segment of a key. */
export function isKeySegment(name: string): boolean {
  return segmentPattern.test(name) && name !== "." && name !== "..";
}

/** Whether `key` names an object; see {@link ObjectStore} for the rule. */
export function isKey(key: string): boolean {
  if (key.length === 0 || key.length > longestKey) return false;
  const segments = key.split("/");
  return segments.every(isKeySegment) && segments[0] !== asideFolder;
}

/** Refuses a key that could leave the store or that some backend could not hold. */
export function assertKey(key: string, operation: string): void {
  if (isKey(key)) return;
  throw new OutlastError("OUTLAST_USAGE", `${JSON.stringify(key)} cannot be the key of a stored object`, {
    operation,
    target: key,
    hint: "keys are segments of letters, digits, '.', '_' and '-' joined by '/', at most 512 bytes",
  });
}

/** Refuses a listing prefix no key could begin with; the part after the last `/` may be any beginning of a segment. */
export function assertPrefix(prefix: string): void {
  const segments = prefix.split("/");
  const last = segments.pop() ?? "";
  if (segments.every(isKeySegment) && segments[0] !== asideFolder && /^[A-Za-z0-9._-]*$/.test(last)) return;
  throw new OutlastError("OUTLAST_USAGE", `${JSON.stringify(prefix)} cannot be the beginning of a key`, {
    operation: "list",
    target: prefix,
    hint: "list by whole segments, such as `runs/a/log/`",
  });
}
