import { nearest } from "./facts/near.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules/index.ts";

/** A rule in words, or the name nearest to what was asked for. */
export type ExplainedRule = { readonly rule: Rule } | { readonly rule: undefined; readonly near: string | undefined };

/** Looks a rule up by its id. */
export function explainRule(id: string): ExplainedRule {
  const rule = rules.find((one) => one.id === id);
  return rule
    ? { rule }
    : {
        rule: undefined,
        near: nearest(
          id,
          rules.map((one) => one.id),
          5,
        ),
      };
}
