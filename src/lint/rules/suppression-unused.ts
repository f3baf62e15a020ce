import type { Rule } from "../rule.ts";

/** Reported by the engine itself, which alone knows what a suppression covered. */
export const suppressionUnused: Rule = {
  id: "suppression-unused",
  title: "A suppression that suppresses nothing",
  severity: "warning",
  why: "A suppression that is left behind, stands on the wrong line or names no rule hides the next finding of its kind, or does not do what its author believes.",
  fix: "Take it out, or correct its rule or place.",
  sources: ["outlast"],
};
