import type { Rule } from "../rule.ts";

/** Reported by the engine itself. */
export const suppressionWithoutReason: Rule = {
  id: "suppression-without-reason",
  title: "A suppression without a reason",
  severity: "warning",
  why: "Someone will ask later why a finding was passed over. A suppression without a reason is not honoured.",
  fix: 'Write `# outlast-ignore RULE: why`, or "RULE=why" in the annotation.',
  sources: ["outlast"],
};
