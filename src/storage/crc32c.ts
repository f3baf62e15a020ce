import { crc32c as native } from "@node-rs/crc32";

/** The CRC-32C of some bytes, native: the checksum both providers take beside an upload. */
export function crc32c(bytes: Uint8Array): number {
  return native(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** As the providers write it: four bytes, most significant first, in base64. */
export function crc32cText(bytes: Uint8Array): string {
  const four = Buffer.alloc(4);
  four.writeUInt32BE(crc32c(bytes));
  return four.toString("base64");
}
