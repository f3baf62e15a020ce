import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { OutlastError } from "../core/index.ts";

/** The hash functions a run may use; its first log record fixes which. */
export type HashName = "blake3" | "sha256";

/** Hashes bytes to 32 raw bytes. */
export type HashFunction = (bytes: Uint8Array) => Uint8Array;

let blake3: HashFunction | undefined | null = null;

/** BLAKE3 from a prebuilt binary; undefined where there is none for this machine. */
function loadBlake3(): HashFunction | undefined {
  if (blake3 !== null) return blake3;
  try {
    const native = createRequire(import.meta.url)("@napi-rs/blake-hash") as { blake3: HashFunction };
    blake3 = native.blake3;
  } catch {
    // Not an error: no binary for this platform. New runs then use SHA-256.
    blake3 = undefined;
  }
  return blake3;
}

/** The hash a new run gets on this machine: the fastest there is. */
export function preferredHash(): HashName {
  return loadBlake3() ? "blake3" : "sha256";
}

/** The function behind a name. */
export function hashFunction(name: HashName): HashFunction {
  if (name === "sha256") return (bytes) => createHash("sha256").update(bytes).digest();
  const native = loadBlake3();
  if (!native) {
    throw new OutlastError(
      "OUTLAST_HASH_UNAVAILABLE",
      "this run's chunks are named by BLAKE3, which is not available here",
      {
        hint: `install the package's optional dependencies for ${process.platform}-${process.arch} (@napi-rs/blake-hash)`,
      },
    );
  }
  return native;
}

/** Hexadecimal hash of some bytes. */
export function hashHex(name: HashName, bytes: Uint8Array): string {
  return Buffer.from(hashFunction(name)(bytes)).toString("hex");
}
