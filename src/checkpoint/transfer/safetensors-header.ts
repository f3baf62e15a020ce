import { open } from "node:fs/promises";
import { systemCode } from "../../core/index.ts";
import { fileError, sourceChanged } from "./file-error.ts";
import type { SourceFile } from "./types.ts";

/** The format's own limit on the header. */
const longestHeader = 100_000_000;

/** Length of a `.safetensors` file's header with its length field, 0 when the file does not begin with one. */
export async function safetensorsHeaderBytes(file: SourceFile): Promise<number> {
  if (!file.path.endsWith(".safetensors") || file.size < 8) return 0;
  const length = file.bytes ? readLength(file.bytes) : await readLengthOf(file);
  return length <= BigInt(Math.min(longestHeader, file.size - 8)) ? 8 + Number(length) : 0;
}

async function readLengthOf(file: SourceFile): Promise<bigint> {
  const field = Buffer.alloc(8);
  try {
    const handle = await open(file.source, "r");
    try {
      await handle.read(field, 0, 8, 0);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw sourceChanged(file.path, "it is gone", error);
    throw fileError(error, "read", file.path);
  }
  return readLength(field);
}

function readLength(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0, true);
}
