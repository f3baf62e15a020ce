import {
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fstatSync,
  fsync,
  ftruncateSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import { OutlastError, systemCode } from "../../core/index.ts";
import { fileError } from "./file-error.ts";
import type { FetchTarget, FileFinish, FinishJob, FoldersJob, SealJob } from "./jobs.ts";
import { writeSliceBytes } from "./limits.ts";
import { asPath } from "./read-source.ts";

const syncAll = promisify(fsync);
const syncData = promisify(fdatasync);
const zeros = Buffer.alloc(writeSliceBytes);
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const oldFile = constants.O_WRONLY | constants.O_NOFOLLOW;

/** Writes bytes of a chunk to one file; the bytes may be reused on return, the promise resolves when they are on disk. */
export function writeTarget(target: FetchTarget, bytes: Uint8Array): Promise<void> {
  const fd = openFile(target.path, target.whole !== undefined);
  try {
    fill(fd, bytes, target.at);
    if (target.whole) giveLooks(fd, target.whole);
  } catch (error) {
    closeSync(fd);
    throw fileError(error, "write", show(target.path));
  }
  // The data of a file in many pieces starts on its way to disk now, beside the work on the next; its looks come at the end.
  return settle(fd, target.path, target.whole ? syncAll : syncData);
}

/** Gives files their final size, mode and time, creating those that have no bytes. */
export async function finishFiles(job: FinishJob): Promise<undefined> {
  for (const file of job.files) {
    const fd = openFile(file.path, file.isNew);
    try {
      giveLooks(fd, file);
    } catch (error) {
      closeSync(fd);
      throw fileError(error, "write", show(file.path));
    }
    await settle(fd, file.path, syncAll);
  }
  return undefined;
}

/** Creates folders; one that is already there must be a real folder, not a link to one. */
export function makeFolders(job: FoldersJob): void {
  for (const path of job.paths) {
    try {
      mkdirSync(asPath(path), { mode: 0o700 });
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw fileError(error, "create", show(path));
      if (!lstatSync(asPath(path)).isDirectory()) throw inTheWay(path, error);
    }
  }
}

/** Sets the folders' modes and makes their entries durable. */
export async function sealFolders(job: SealJob): Promise<undefined> {
  for (const { path, mode } of job.folders) {
    let fd: number;
    try {
      fd = openSync(asPath(path), constants.O_RDONLY | constants.O_DIRECTORY);
      if (mode !== undefined) fchmodSync(fd, mode & 0o7777);
    } catch (error) {
      throw fileError(error, "finish", show(path));
    }
    await settle(fd, path, syncAll);
  }
  return undefined;
}

function openFile(path: string | Uint8Array, isNew: boolean): number {
  try {
    return openSync(asPath(path), isNew ? newFile : oldFile, 0o600);
  } catch (error) {
    throw isNew && systemCode(error) === "EEXIST" ? inTheWay(path, error) : fileError(error, "write", show(path));
  }
}

/** Writes in slices and leaves holes for slices of zeros: the file is new, so a hole reads the same. */
function fill(fd: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) {
    const slice = bytes.subarray(at, at + writeSliceBytes);
    at += isZero(slice) ? slice.length : writeSync(fd, slice, 0, slice.length, position + at);
  }
}

function isZero(bytes: Uint8Array): boolean {
  return bytes[0] === 0 && Buffer.compare(bytes, zeros.subarray(0, bytes.length)) === 0;
}

function giveLooks(fd: number, looks: FileFinish): void {
  if (fstatSync(fd).size !== looks.size) ftruncateSync(fd, looks.size);
  fchmodSync(fd, looks.mode & 0o777);
  futimesSync(fd, looks.mtimeMs / 1000, looks.mtimeMs / 1000);
}

async function settle(fd: number, path: string | Uint8Array, sync: (fd: number) => Promise<void>): Promise<void> {
  try {
    await sync(fd);
  } catch (error) {
    throw fileError(error, "write", show(path));
  } finally {
    closeSync(fd);
  }
}

function inTheWay(path: string | Uint8Array, cause: unknown): OutlastError {
  return new OutlastError(
    "OUTLAST_FILE_FAILED",
    `cannot write ${show(path)}: something of that name is already there`,
    {
      operation: "write",
      target: show(path),
      hint: "restore into an empty directory",
      cause,
    },
  );
}

function show(path: string | Uint8Array): string {
  return asPath(path).toString();
}
