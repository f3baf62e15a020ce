import { createHash } from "node:crypto";
import type { Finding } from "../lint.ts";

/** What a finding is called across runs: rule, file and object, not its line, so that it survives edits above it. */
export function fingerprint({ rule, file, object, message }: Finding): string {
  return createHash("sha256")
    .update([rule, file, object, message.replace(/\d+/g, "#")].join("\0"))
    .digest("hex")
    .slice(0, 32);
}
