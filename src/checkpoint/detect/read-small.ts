import { open } from "node:fs/promises";
import { systemCode } from "../../core/index.ts";
import { encodePath } from "../path-bytes.ts";
import type { ReadSmall } from "./types.ts";

const defaultLimit = 1 << 20;

/** Reads small pieces of files under `root`; undefined where there is no such file. */
export function createReadSmall(root: string): ReadSmall {
  return async (path, { offset = 0, limit = defaultLimit } = {}) => {
    try {
      const file = await open(encodePath(`${root}/${path}`), "r");
      try {
        const size = Math.min(limit, Math.max(0, (await file.stat()).size - offset));
        const bytes = Buffer.alloc(size);
        let filled = 0;
        while (filled < size) {
          const { bytesRead } = await file.read(bytes, filled, size - filled, offset + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return bytes.subarray(0, filled);
      } finally {
        await file.close();
      }
    } catch (error) {
      if (["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "ESTALE"].includes(systemCode(error) ?? "")) return undefined;
      throw error;
    }
  };
}
