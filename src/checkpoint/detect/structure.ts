import { nameOf } from "./tree.ts";
import type { ReadSmall, ScanEntry } from "./types.ts";

/**
 * What a file's own structure says.
 * - `whole`: bytes that are only written at the very end are there.
 * - `plausible`: nothing is wrong as far as can be seen, which proves little.
 * - `broken`: it cannot be complete.
 */
export type Structure =
  | { readonly verdict: "whole" | "plausible" }
  | { readonly verdict: "broken"; readonly why: string };

/** Markers that carry their meaning in their name. */
const mayBeEmpty =
  /^(?:commit_success\.txt|_SUCCESS|DONE|COMPLETE|READY|\.gitkeep|\.gitignore|__init__\.py|py\.typed|\.keep|\.nojekyll|.*\.(?:done|complete|ok|success))$|_complete$/i;

const jsonLimit = 16 << 20;
const safetensorsHeaderLimit = 100 << 20;

const plausible: Structure = { verdict: "plausible" };
const whole: Structure = { verdict: "whole" };
const broken = (why: string): Structure => ({ verdict: "broken", why });

/** Checks one file by small reads at its beginning and end; `isMarker` files may be empty. */
export async function checkStructure(entry: ScanEntry, read: ReadSmall, isMarker = false): Promise<Structure> {
  if (entry.type !== "file") return plausible;
  const name = nameOf(entry.path);
  if (entry.size === 0) return isMarker || mayBeEmpty.test(name) ? plausible : broken("it is empty");
  const suffix = /\.([A-Za-z0-9_]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  switch (suffix) {
    case "safetensors":
      return checkSafetensors(entry, read);
    case "pt":
    case "pth":
    case "bin":
    case "ckpt":
    case "pkl":
      // Frameworks use these names for zip archives and for plain pickles alike: the first bytes tell.
      return checkZip(entry, read, false);
    case "npz":
    case "keras":
    case "zip":
      return checkZip(entry, read, true);
    case "json":
      return checkJson(entry, read);
    case "h5":
    case "hdf5":
      return checkHdf5(entry, read);
    case "npy":
      return checkNpy(entry, read);
    default:
      return plausible;
  }
}

async function checkSafetensors(entry: ScanEntry, read: ReadSmall): Promise<Structure> {
  const length = await readExactly(entry, read, 0, 8);
  if (!length) return broken("it is shorter than a safetensors header");
  const headerLength = Number(length.readBigUInt64LE(0));
  if (headerLength < 2 || headerLength > safetensorsHeaderLimit || 8 + headerLength > entry.size) {
    return broken(`its header would be ${headerLength} bytes in a file of ${entry.size}`);
  }
  const header = parseJson(await readExactly(entry, read, 8, headerLength));
  if (typeof header !== "object" || header === null) return broken("its header is not JSON");
  let end = 0;
  for (const [key, tensor] of Object.entries(header as Record<string, unknown>)) {
    if (key === "__metadata__") continue;
    const offsets = (tensor as { data_offsets?: unknown } | null)?.data_offsets;
    const last = Array.isArray(offsets) ? (offsets[1] as unknown) : undefined;
    if (typeof last !== "number") return broken(`its tensor ${JSON.stringify(key)} has no offsets`);
    end = Math.max(end, last);
  }
  const wanted = 8 + headerLength + end;
  return entry.size === wanted ? whole : broken(`it has ${entry.size} bytes where its header says ${wanted}`);
}

const zipEnd = 0x06054b50;
const zip64Locator = 0x07064b50;
const zip64End = 0x06064b50;
const zipCentral = 0x02014b50;
const none32 = 0xffff_ffff;

/** A zip's central directory is written last: a cut archive has no end record that fits the file's size. */
async function checkZip(entry: ScanEntry, read: ReadSmall, mustBeZip: boolean): Promise<Structure> {
  const start = await readExactly(entry, read, 0, Math.min(4, entry.size));
  const isZip = start !== undefined && start.length === 4 && start.toString("latin1") === "PK\x03\x04";
  if (!isZip) {
    // Holes where the first bytes belong: nothing is written there yet.
    if (start?.every((byte) => byte === 0)) return broken("its first bytes are zeros");
    return mustBeZip ? broken("it is not a zip archive") : plausible;
  }
  const tailLength = Math.min(entry.size, 22 + 65_535 + 20);
  const tailStart = entry.size - tailLength;
  const tail = await readExactly(entry, read, tailStart, tailLength);
  if (!tail) return broken("it became shorter while it was read");
  for (let at = tail.length - 22; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== zipEnd || at + 22 + tail.readUInt16LE(at + 20) !== tail.length) continue;
    let size = tail.readUInt32LE(at + 12);
    let offset = tail.readUInt32LE(at + 16);
    let before = tailStart + at;
    if (at >= 20 && tail.readUInt32LE(at - 20) === zip64Locator) {
      const recordAt = Number(tail.readBigUInt64LE(at - 20 + 8));
      const record = await readExactly(entry, read, recordAt, 56);
      if (!record || record.readUInt32LE(0) !== zip64End) return broken("its zip64 end record is missing");
      if (size === none32) size = Number(record.readBigUInt64LE(40));
      if (offset === none32) offset = Number(record.readBigUInt64LE(48));
      before = recordAt;
    }
    if (offset + size !== before) return broken("its zip directory does not end where its end record says");
    if (size === 0) return whole;
    const first = await readExactly(entry, read, offset, 4);
    return first?.readUInt32LE(0) === zipCentral ? whole : broken("its zip directory is missing");
  }
  return broken("its zip end record is missing");
}

async function checkJson(entry: ScanEntry, read: ReadSmall): Promise<Structure> {
  if (entry.size > jsonLimit) {
    const last = await readExactly(entry, read, entry.size - 1, 1);
    return last && /[\]}\s"0-9el]/.test(last.toString("latin1")) ? plausible : broken("its end is not JSON");
  }
  return parseJson(await readExactly(entry, read, 0, entry.size)) === undefined ? broken("it is not JSON") : whole;
}

const hdf5Signature = Buffer.from("\x89HDF\r\n\x1a\n", "latin1");

async function checkHdf5(entry: ScanEntry, read: ReadSmall): Promise<Structure> {
  // The signature may also stand at 512, 1024 … where a user block precedes it; those who do that are not second-guessed.
  const start = await readExactly(entry, read, 0, Math.min(96, entry.size));
  if (!start || start.subarray(0, 8).every((byte) => byte === 0)) return broken("its first bytes are zeros");
  if (!start.subarray(0, 8).equals(hdf5Signature) || start.length < 48)
    return entry.size >= 1024 ? plausible : broken("it is no HDF5 file");
  const version = start[8] ?? 0;
  const offsetSize = version < 2 ? (start[13] ?? 0) : (start[9] ?? 0);
  // End-of-file address: third address of the superblock (versions 0 and 1 hold it behind two more fields).
  const at = (version === 0 ? 24 : version === 1 ? 28 : 12) + 2 * offsetSize;
  if (offsetSize !== 8 || at + 8 > start.length) return plausible;
  const end = Number(start.readBigUInt64LE(at));
  return end > entry.size ? broken(`it has ${entry.size} bytes where its superblock says ${end}`) : plausible;
}

async function checkNpy(entry: ScanEntry, read: ReadSmall): Promise<Structure> {
  const start = await readExactly(entry, read, 0, Math.min(12, entry.size));
  if (!start || start.length < 10 || start.toString("latin1", 0, 6) !== "\x93NUMPY") return broken("it is no npy file");
  const wide = (start[6] ?? 0) >= 2;
  if (wide && start.length < 12) return broken("its header is cut");
  const headerLength = wide ? start.readUInt32LE(8) : start.readUInt16LE(8);
  const dataAt = (wide ? 12 : 10) + headerLength;
  const header = (await readExactly(entry, read, wide ? 12 : 10, headerLength))?.toString("latin1");
  if (header === undefined) return broken("its header is cut");
  const kind = /'descr':\s*'[<>|=]?([a-zA-Z])(\d+)'/.exec(header);
  const shape = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1];
  // Structured and object types have no size that can be read from here.
  if (!kind || shape === undefined || kind[1] === "O") return plausible;
  const itemSize = Number(kind[2]) * (kind[1] === "U" ? 4 : 1);
  const count = shape
    .split(",")
    .filter((part) => part.trim() !== "")
    .reduce((product, part) => product * Number(part), 1);
  const wanted = dataAt + itemSize * count;
  return entry.size === wanted ? whole : broken(`it has ${entry.size} bytes where its header says ${wanted}`);
}

async function readExactly(
  entry: ScanEntry,
  read: ReadSmall,
  offset: number,
  limit: number,
): Promise<Buffer | undefined> {
  if (offset < 0 || offset + limit > entry.size) return undefined;
  const bytes = await read(entry.path, { offset, limit });
  if (!bytes || bytes.length !== limit) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function parseJson(bytes: Buffer | undefined): unknown {
  if (!bytes) return undefined;
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    // Not JSON: what the caller asks.
    return undefined;
  }
}
