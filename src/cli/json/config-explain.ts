import { z } from "zod";

/** `outlast config explain --json` */
export interface ConfigExplainJson {
  schema: 1;
  settings: { name: string; value: string; from: string }[];
}

export const configExplainJson: z.ZodType<ConfigExplainJson> = z.strictObject({
  schema: z.literal(1),
  settings: z.array(
    z.strictObject({
      name: z.string().describe("the flag without its dashes"),
      value: z.string().describe("as written"),
      from: z.string().describe("`default`, the file's path, the variable's name, or `flag`"),
    }),
  ),
});
