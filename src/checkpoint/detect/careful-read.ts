import type { Found } from "./conventions/index.ts";
import type { Look } from "./look.ts";
import type { Candidate, ReadSmall, Scan } from "./types.ts";

/**
 * Reads a candidate's own files, which nobody has open, and of others only those that nobody can be writing: on a mounted bucket, opening a file that is being
 * written ends its upload.
 */
export function readClosed(read: ReadSmall, candidate: Candidate, look: Look, scan: Scan): ReadSmall {
  const own = new Set(candidate.entries.map(({ path }) => path));
  return (path, options) => {
    const entry = scan.entries.get(path);
    return own.has(path) || (entry && look.isClosed(entry)) ? read(path, options) : Promise.resolve(undefined);
  };
}

/** Asks a convention again about a candidate whose files may be read now; answers with what is wrong, if anything. */
export async function faultOnReading(
  { candidate, convention }: Found,
  scan: Scan,
  read: ReadSmall,
): Promise<string | undefined> {
  const again = (await convention.find(scan, read)).find(({ path }) => path === candidate.path);
  return again?.state === "incomplete" ? again.why : undefined;
}
