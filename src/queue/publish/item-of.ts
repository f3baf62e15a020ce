import type { ItemData, NewItem } from "../../results/index.ts";
import { canonicalJson, contentId } from "./canonical.ts";

/** Longest id, in bytes: every backend can index it. */
const longestId = 512;

/** An item, its canonical content, or why the data makes none. */
export type MadeItem =
  | { readonly item: NewItem; readonly content: string }
  | { readonly problem: string; readonly isMissingColumn: boolean };

/** Gives data its id: the value of a column, else the hash of what it says and of the version. */
export function itemOf(data: ItemData, idColumn: string | undefined, version: string | undefined): MadeItem {
  const content = canonicalJson(data);
  if (idColumn === undefined) return { item: { id: contentId(content, version), data }, content };
  const value = data[idColumn];
  if (value === undefined) {
    const names = Object.keys(data).slice(0, 12).join(", ");
    return { problem: `there is no "${idColumn}" for --id; there is ${names || "nothing"}`, isMissingColumn: true };
  }
  if (typeof value !== "string" && typeof value !== "number")
    return refuse(`the id is ${typeof value}, not text or a number`);
  const id = String(value);
  if (id.trim() === "") return refuse("the id is empty");
  if (Buffer.byteLength(id) > longestId) return refuse(`the id is longer than ${longestId} bytes: ${id.slice(0, 60)}…`);
  if (id.includes("\0") || !id.isWellFormed()) return refuse("the id holds characters that cannot be stored");
  return { item: { id, data }, content };
}

function refuse(problem: string): MadeItem {
  return { problem, isMissingColumn: false };
}
