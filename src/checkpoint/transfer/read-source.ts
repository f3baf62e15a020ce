import { closeSync, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { systemCode } from "../../core/index.ts";
import { fileError, sourceChanged } from "./file-error.ts";
import type { SendPart } from "./jobs.ts";
import type { SourceGuard } from "./types.ts";

/** Reads a part of a source file into `into`; throws `OUTLAST_SOURCE_CHANGED` unless its stat held all the while. */
export function readSource(part: SendPart, into: Uint8Array): void {
  if (part.bytes) {
    into.set(part.bytes.subarray(part.offset, part.offset + part.length));
    return;
  }
  let fd: number;
  try {
    if (part.guard?.isBeforeOpen) compare(part, lstatSync(asPath(part.source)));
    fd = openSync(asPath(part.source), "r");
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw sourceChanged(part.path, "it is gone", error);
    throw fileError(error, "read", part.path);
  }
  try {
    compare(part, fstatSync(fd));
    let at = 0;
    while (at < part.length) {
      const read = readSync(fd, into, at, part.length - at, part.offset + at);
      if (read === 0) throw sourceChanged(part.path, `it ends at ${part.offset + at} of ${part.fileSize} bytes`);
      at += read;
    }
    compare(part, fstatSync(fd));
  } catch (error) {
    throw fileError(error, "read", part.path);
  } finally {
    closeSync(fd);
  }
}

function compare(part: SendPart, seen: Stats): void {
  if (seen.size !== part.fileSize) {
    throw sourceChanged(part.path, `it has ${seen.size} bytes instead of ${part.fileSize}`);
  }
  const fault = part.guard && difference(part.guard, seen);
  if (fault) throw sourceChanged(part.path, fault);
}

/** What differs between a guard and a later stat, if anything that could mean other content. */
export function difference(guard: SourceGuard, seen: Stats): string | undefined {
  if (guard.ino !== undefined && seen.ino !== guard.ino) return "another file took its place";
  if (seen.mtimeMs !== guard.mtimeMs) return "it was written to";
  if (guard.ctimeMs === undefined || seen.ctimeMs === guard.ctimeMs) return undefined;
  // Removing another name of the file moves ctime and leaves the content alone: a trainer rotating its checkpoints.
  if (guard.nlink !== undefined && seen.nlink < guard.nlink) return undefined;
  return "it was written to, or its attributes were changed";
}

/** A path that crossed a thread border: a Buffer arrives there as plain bytes. */
export function asPath(path: string | Uint8Array): string | Buffer {
  return typeof path === "string" ? path : Buffer.from(path.buffer, path.byteOffset, path.byteLength);
}
