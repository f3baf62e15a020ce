import type { HandlerItem } from "outlast/batch";

// Loaded once, when the worker starts this file in a process of its own.
const weights = new Map([
  ["great", 2],
  ["good", 1],
  ["bad", -1],
  ["awful", -2],
]);

/** Called for each item; what it returns is the item's result, what it throws its failure. */
export function handle({ data }: HandlerItem): { label: string; score: number } {
  const { text } = data;
  // `permanent`: no use in trying again, straight to the dead letters.
  if (typeof text !== "string") throw Object.assign(new Error("there is no text"), { permanent: true });
  const score = text
    .toLowerCase()
    .split(/\s+/)
    .reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
  return { label: score >= 0 ? "positive" : "negative", score };
}
