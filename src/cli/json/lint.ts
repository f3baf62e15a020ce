import { z } from "zod";

const finding = z.strictObject({
  rule: z.string(),
  severity: z.enum(["error", "warning", "info"]),
  file: z.string(),
  line: z.number(),
  column: z.number(),
  endLine: z.number(),
  endColumn: z.number(),
  message: z.string(),
  object: z.string().describe("kind and name, such as Job/train; empty for what is no object"),
  confidence: z.enum(["certain", "likely"]),
  related: z.strictObject({ file: z.string(), line: z.number(), column: z.number(), message: z.string() }).nullable(),
  fix: z.strictObject({ safety: z.enum(["safe", "unsafe"]), title: z.string() }).nullable(),
});

/** `outlast lint --json` */
export const lintJson = z.strictObject({
  schema: z.literal(1),
  findings: z.array(finding),
  suppressed: z.array(
    z.strictObject({ rule: z.string(), file: z.string(), line: z.number(), column: z.number(), reason: z.string() }),
  ),
  counts: z.strictObject({
    files: z.number(),
    objects: z.number(),
    templates: z.number().describe("pod templates"),
    pools: z.number(),
    known: z.number().describe("findings that the baseline holds"),
  }),
  skipped: z.array(z.strictObject({ path: z.string(), why: z.string() })),
  fixed: z.array(z.strictObject({ path: z.string(), fixes: z.number() })).describe("files that --fix changed"),
});

export type LintJson = z.infer<typeof lintJson>;
