import { z } from "zod";

/** `outlast demo --json` */
export interface DemoJson {
  schema: 1;
  equal: boolean;
  undisturbed: string;
  evicted: string;
  evictions: { how: "SIGTERM" | "SIGKILL"; atStep: number; resumedAt: number; stepsRedone: number; lostMs: number }[];
}

export const demoJson: z.ZodType<DemoJson> = z.strictObject({
  schema: z.literal(1),
  equal: z.boolean().describe("whether both runs ended with the same bits"),
  undisturbed: z.string().describe("sha256 of the last checkpoint of the undisturbed run"),
  evicted: z.string().describe("the same of the evicted run"),
  evictions: z.array(
    z.strictObject({
      how: z.enum(["SIGTERM", "SIGKILL"]),
      atStep: z.number(),
      resumedAt: z.number(),
      stepsRedone: z.number(),
      lostMs: z.number().describe("from the eviction until the step it had reached was reached again"),
    }),
  ),
});
