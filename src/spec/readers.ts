import { constants } from "node:os";
import { formatDuration, OutlastError, parseBytes, parseDuration } from "../core/index.ts";
import { suggest } from "./suggest.ts";

/** Turns a value as written into the value meant; `what` names it in an error. */
export type Reader<T> = (text: string, what: string) => T;

function refuse(what: string, text: string, wanted: string, hint: string): OutlastError {
  return new OutlastError("OUTLAST_USAGE", `${what} "${text}" is not ${wanted}`, { hint });
}

/** Any text but the empty one. */
export const readText: Reader<string> = (text, what) => {
  if (text.trim() === "") throw refuse(what, text, "a value", `give ${what} a value or leave it out`);
  return text;
};

/** `true`, `false`, `1`, `0`, `yes` or `no`. */
export const readFlag: Reader<boolean> = (text, what) => {
  if (/^(true|1|yes)$/i.test(text)) return true;
  if (/^(false|0|no)$/i.test(text)) return false;
  throw refuse(what, text, "yes or no", "write true or false");
};

/** A whole number between two bounds. */
export function readCount(least: number, most: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  return (text, what) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) {
      const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
      throw refuse(what, text, `a whole number ${bounds}`, `write a whole number ${bounds}`);
    }
    return value;
  };
}

/** A number of bytes, at least one. */
export const readBytes: Reader<number> = (text, what) => {
  const value = parseBytes(text, what);
  if (value < 1) throw refuse(what, text, "a size", "write a number and a unit, such as 1MiB");
  return value;
};

/** Bytes per second: `50MB/s`, `10MiB`. */
export const readRate: Reader<number> = (text, what) => {
  const value = parseBytes(text.trim().replace(/\/s$/i, ""), what);
  if (value < 1024) throw refuse(what, text, "a rate", "write bytes per second, such as 50MB/s (at least 1KiB/s)");
  return value;
};

/** A number between two bounds. */
export function readNumber(least: number, most: number = Number.MAX_VALUE): Reader<number> {
  return (text, what) => {
    const value = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text.trim()) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) {
      const bounds = most === Number.MAX_VALUE ? `of at least ${least}` : `from ${least} to ${most}`;
      throw refuse(what, text, `a number ${bounds}`, `write a number ${bounds}`);
    }
    return value;
  };
}

/** A length of time, in milliseconds, of at least `leastMs`. */
export function readDuration(leastMs: number, why = "stopping well takes time"): Reader<number> {
  return (text, what) => {
    const value = parseDuration(text, what);
    if (value < leastMs) {
      throw refuse(what, text, `long enough`, `${why}: give it at least ${formatDuration(leastMs)}`);
    }
    return value;
  };
}

/** One of a closed set of words. */
export function readChoice<T extends string>(choices: readonly T[]): Reader<T> {
  return (text, what) => {
    const found = choices.find((choice) => choice === text.toLowerCase());
    if (found) return found;
    const near = suggest(text, choices);
    throw refuse(
      what,
      text,
      `one of ${choices.join(", ")}`,
      near ? `did you mean ${near}?` : `choose ${choices.join(" or ")}`,
    );
  };
}

/** A signal by name, with or without `SIG`, or by number. */
export const readSignal: Reader<NodeJS.Signals> = (text, what) => {
  const wanted = text.trim().toUpperCase();
  const name = wanted.startsWith("SIG") ? wanted : `SIG${wanted}`;
  for (const [signal, number] of Object.entries(constants.signals)) {
    if (signal !== name && String(number) !== wanted) continue;
    if (signal === "SIGKILL" || signal === "SIGSTOP") {
      throw refuse(
        what,
        text,
        "a signal a program can answer",
        "use TERM, INT or USR1; the kill comes by itself when time is up",
      );
    }
    return signal as NodeJS.Signals;
  }
  throw refuse(what, text, "a signal", "write a name such as TERM, INT or USR1");
};

/** Which part of a run a process is: `2/8` is the third of eight. */
export interface ShardOf {
  readonly index: number;
  readonly of: number;
}

/** `i/n`, counted from 0. */
export const readShard: Reader<ShardOf> = (text, what) => {
  const match = /^(\d{1,6})\/(\d{1,6})$/.exec(text.trim());
  const shard = { index: Number(match?.[1] ?? Number.NaN), of: Number(match?.[2] ?? Number.NaN) };
  if (shard.of >= 1 && shard.index < shard.of) return shard;
  throw refuse(what, text, "a shard", "write i/n with i from 0 to n-1, such as 0/4");
};
