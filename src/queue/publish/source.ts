import type { ItemData } from "../../results/index.ts";

/** One row of a source: data for an item, or what is wrong with the line. */
export type SourceRow =
  | { readonly line: number; readonly data: ItemData }
  | { readonly line: number; readonly problem: string };

/** Some rows of a source, in order. */
export interface SourceBatch {
  /** As errors name it. */
  readonly source: string;
  readonly rows: readonly SourceRow[];
}

/** How the lines of a source are read. `files`: each file or object is an item, whatever is in it. */
export type SourceFormat = "auto" | "csv" | "tsv" | "jsonl" | "files";

/** A line longer than this is not read; memory stays bounded whatever is published. */
export const longestLine: number = 16 * 1024 * 1024;
