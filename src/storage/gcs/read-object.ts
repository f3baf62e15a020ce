import type { IncomingMessage } from "node:http";
import { OutlastError } from "../../core/index.ts";
import { crc32cText } from "../crc32c.ts";
import type { GetOptions } from "../object-store.ts";
import type { Sink } from "./exchange.ts";
import { failureSink, ForeignAnswer, textSink, truncated } from "./http-failure.ts";

/** The bytes that came are not those the server has. */
export class WrongChecksum extends Error {
  override readonly name = "WrongChecksum";
}

/** The `Range` header of a read; none for a whole object. */
export function rangeHeader({ range }: GetOptions): Record<string, string> {
  if (!range) return {};
  // No byte at all cannot be asked for; one is, so that a missing object is still found missing.
  const last = range.offset + Math.max(range.length, 1) - 1;
  return { range: `bytes=${range.offset}-${last}` };
}

/** Receives an object's bytes where they belong, and only if they are all there and unharmed. */
export function objectSink(response: IncomingMessage, key: string, options: GetOptions): Sink<Uint8Array> {
  const { range } = options;
  if (response.statusCode === 416 && range) return textSink(() => empty(options));
  const isWhole = response.statusCode === 200;
  if (!isWhole && response.statusCode !== 206) return failureSink(response);
  if (range?.length === 0) return textSink(() => empty(options));
  const extent = isWhole ? wholeExtent(response, range) : partExtent(response, range);
  const receive = extent.length === undefined ? gather(key, options) : fill(key, extent.length, options);
  const wanted = extent.isAll ? storedChecksum(response) : undefined;
  return {
    take: (part) => receive.take(part),
    end() {
      const bytes = receive.end();
      if (wanted === undefined || crc32cText(bytes) === wanted) return bytes;
      throw new WrongChecksum(`${bytes.length} bytes came whose CRC-32C is not the stored ${wanted}`);
    },
  };
}

interface Extent {
  /** Undefined where the server does not announce it. */
  readonly length: number | undefined;
  /** Whether these are all bytes of the object, as its checksum was made of. */
  readonly isAll: boolean;
}

function wholeExtent(response: IncomingMessage, range: GetOptions["range"]): Extent {
  const announced = response.headers["content-length"];
  const length = announced === undefined ? undefined : Number(announced);
  if (range && (range.offset !== 0 || length === undefined || length > range.length)) {
    throw new ForeignAnswer("a part of the object was asked for and all of it came");
  }
  return { length, isAll: true };
}

function partExtent(response: IncomingMessage, range: GetOptions["range"]): Extent {
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers["content-range"] ?? "") ?? [];
  const length = Number(last) - Number(first) + 1;
  const isAsked =
    range && Number(first) === range.offset && length === Math.min(range.length, Number(total) - range.offset);
  if (!isAsked) throw new ForeignAnswer(`bytes ${first}-${last} of ${total} came, which are not those asked for`);
  return { length, isAll: length === Number(total) };
}

/** What the server keeps as the object's CRC-32C, unless the bytes come in another form than they are stored in. */
function storedChecksum({ headers }: IncomingMessage): string | undefined {
  const stored = headers["x-goog-stored-content-encoding"];
  if ((stored !== undefined && stored !== "identity") || headers["content-encoding"] !== undefined) return undefined;
  const hashes = headers["x-goog-hash"];
  return /(?:^|,)\s*crc32c=([A-Za-z0-9+/=]+)/.exec(Array.isArray(hashes) ? hashes.join(",") : (hashes ?? ""))?.[1];
}

function fill(key: string, length: number, { into }: GetOptions): Sink<Uint8Array> {
  if (into && into.length < length) throw tooSmall(key, length, into.length);
  const bytes = into ? into.subarray(0, length) : Buffer.allocUnsafeSlow(length);
  let at = 0;
  return {
    take(part) {
      if (at + part.length > length) throw new ForeignAnswer(`more than the announced ${length} bytes came`);
      bytes.set(part, at);
      at += part.length;
    },
    end() {
      if (at < length) throw truncated(at, length);
      return bytes;
    },
  };
}

function gather(key: string, { into }: GetOptions): Sink<Uint8Array> {
  const parts: Buffer[] = [];
  return {
    take: (part) => void parts.push(part),
    end() {
      const bytes = Buffer.concat(parts);
      if (!into) return bytes;
      if (into.length < bytes.length) throw tooSmall(key, bytes.length, into.length);
      into.set(bytes);
      return into.subarray(0, bytes.length);
    },
  };
}

function empty({ into }: GetOptions): Uint8Array {
  return into ? into.subarray(0, 0) : new Uint8Array();
}

function tooSmall(key: string, needed: number, given: number): OutlastError {
  return new OutlastError("OUTLAST_USAGE", `${key} needs ${needed} bytes but the buffer has ${given}`, {
    operation: "get",
    target: key,
  });
}
