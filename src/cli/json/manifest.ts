import { z } from "zod";

/** `outlast manifest --json` */
export interface ManifestJson {
  schema: 1;
  workloads: {
    name: string;
    namespace: string;
    kind: "train" | "batch" | "serve";
    capacity: ("spot" | "flex-start" | "on-demand")[];
    reason: string;
    objects: Record<string, unknown>[];
    setup: { purpose: string; argv: string[]; file?: { name: string; text: string } | undefined }[];
    terraform: string;
    notes: string[];
  }[];
  warnings: { line: number | null; message: string; hint: string | null }[];
}

export const manifestJson: z.ZodType<ManifestJson> = z.strictObject({
  schema: z.literal(1),
  workloads: z.array(
    z.strictObject({
      name: z.string(),
      namespace: z.string(),
      kind: z.enum(["train", "batch", "serve"]),
      capacity: z.array(z.enum(["spot", "flex-start", "on-demand"])).describe("in order of preference"),
      reason: z.string().describe("why this capacity"),
      objects: z.array(z.record(z.string(), z.unknown())).describe("Kubernetes objects in the order they are applied"),
      setup: z
        .array(
          z.strictObject({
            purpose: z.string(),
            argv: z.array(z.string()),
            file: z
              .strictObject({ name: z.string(), text: z.string() })
              .optional()
              .describe("a file the command reads"),
          }),
        )
        .describe("commands to run once, before"),
      terraform: z.string().describe("the node pool; empty where none is made"),
      notes: z.array(z.string()).describe("what has to be true of the cluster"),
    }),
  ),
  warnings: z.array(z.strictObject({ line: z.number().nullable(), message: z.string(), hint: z.string().nullable() })),
});

/** `outlast manifest --explain --json` */
export interface ManifestExplainJson {
  schema: 1;
  workloads: {
    name: string;
    namespace: string;
    happenings: {
      what: string;
      notice: string;
      restartedBy: string;
      resumesFrom: string;
      delay: string;
      pays: string;
    }[];
  }[];
}

export const manifestExplainJson: z.ZodType<ManifestExplainJson> = z.strictObject({
  schema: z.literal(1),
  workloads: z.array(
    z.strictObject({
      name: z.string(),
      namespace: z.string(),
      happenings: z.array(
        z.strictObject({
          what: z.string(),
          notice: z.string().describe("what is known before, and how long it leaves"),
          restartedBy: z.string(),
          resumesFrom: z.string(),
          delay: z.string(),
          pays: z.string().describe("whose budget of failures is charged"),
        }),
      ),
    }),
  ),
});
