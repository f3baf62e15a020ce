import { type ItemRow, isSettled } from "../rules.ts";
import type { SqliteFile } from "./sqlite-file.ts";

/** Rates are kept in steps of this. */
const bucketMs = 5_000;
const minuteMs = 60_000;

/** What one transaction adds to the totals; written once, at its end. */
export class Totals {
  #done = 0;
  #dead = 0;
  #interruptions = 0;
  #late = 0;
  #settled = 0;

  /** Counts what a row's change means. */
  count(before: ItemRow, after: ItemRow): void {
    this.#done += Number(after.state === "done") - Number(before.state === "done");
    this.#dead += Number(after.state === "dead") - Number(before.state === "dead");
    this.#interruptions += after.interruptions - before.interruptions;
    this.#late += after.late - before.late;
    this.#settled += Number(isSettled(after) && !isSettled(before));
  }

  write(file: SqliteFile, now: number): void {
    if (this.#done !== 0 || this.#dead !== 0 || this.#interruptions !== 0 || this.#late !== 0) {
      file.run(addTotals, this.#done, this.#dead, this.#interruptions, this.#late);
    }
    if (this.#settled === 0) return;
    const bucket = Math.floor(now / bucketMs);
    if (file.run("UPDATE outlast_totals SET settled = settled + ? WHERE bucket = ?", this.#settled, bucket) > 0) return;
    file.run("INSERT INTO outlast_totals (bucket, settled) VALUES (?, ?)", bucket, this.#settled);
    file.run("DELETE FROM outlast_totals WHERE bucket > 0 AND bucket < ?", bucket - (2 * minuteMs) / bucketMs);
  }
}

const addTotals = `UPDATE outlast_totals SET done = done + ?, dead = dead + ?, interruptions = interruptions + ?, late = late + ?
  WHERE bucket = 0`;

/** Items settled in the last minute. */
export function settledLastMinute(file: SqliteFile, now: number): number {
  const since = Math.floor((now - minuteMs) / bucketMs);
  const row = file.get("SELECT sum(settled) AS n FROM outlast_totals WHERE bucket > max(?, 0)", since);
  return Number(row?.["n"] ?? 0);
}
