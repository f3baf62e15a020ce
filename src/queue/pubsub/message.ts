import { OutlastError } from "../../core/index.ts";
import type { Item, ItemData } from "../../results/index.ts";

/** An item on its way: its data as JSON, its id and generation as attributes, for people to see them in the console. */
export interface Message {
  readonly data: Buffer;
  readonly attributes: { readonly id: string; readonly generation: string };
}

/** Pub/Sub's limits are 10 MB for a message and for a request, 1000 messages, 1024 bytes for an attribute; this leaves room for framing. */
const maxRequestBytes = 9_500_000;
const maxMessages = 1_000;
const maxIdBytes = 1_024;
const framingBytes = 64;

/** Items as messages, in requests that Pub/Sub takes; throws before anything is sent when one can never be. */
export function* toRequests(items: readonly Item[], target: string): Iterable<readonly Message[]> {
  let request: Message[] = [];
  let bytes = 0;
  for (const item of items) {
    const message = toMessage(item, target);
    const size = sizeOf(message);
    if (request.length === maxMessages || (request.length > 0 && bytes + size > maxRequestBytes)) {
      yield request;
      request = [];
      bytes = 0;
    }
    request.push(message);
    bytes += size;
  }
  if (request.length > 0) yield request;
}

/** The item in a message; undefined when it is not one of ours. */
export function fromMessage(
  data: Uint8Array | string | null | undefined,
  attributes: Readonly<Record<string, string>>,
): Item | undefined {
  const { id, generation } = attributes;
  if (!id || generation === undefined || !/^\d+$/.test(generation)) return undefined;
  const text = typeof data === "string" ? Buffer.from(data, "base64").toString() : Buffer.from(data ?? []).toString();
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
    return { id, generation: Number(generation), data: parsed as ItemData };
  } catch {
    // Somebody else's message with attributes like ours: the caller leaves it alone.
    return undefined;
  }
}

function toMessage({ id, generation, data }: Item, target: string): Message {
  if (Buffer.byteLength(id) > maxIdBytes) {
    throw tooLarge(id, `its id has ${Buffer.byteLength(id)} bytes; Pub/Sub carries ${maxIdBytes}`, target);
  }
  const message = { data: Buffer.from(JSON.stringify(data)), attributes: { id, generation: `${generation}` } };
  const size = sizeOf(message);
  if (size > maxRequestBytes) {
    throw tooLarge(id, `it has ${size} bytes; Pub/Sub carries ${maxRequestBytes}`, target);
  }
  return message;
}

function sizeOf({ data, attributes }: Message): number {
  return data.length + Buffer.byteLength(attributes.id) + attributes.generation.length + framingBytes;
}

function tooLarge(id: string, what: string, target: string): OutlastError {
  const name = id.length > 80 ? `${id.slice(0, 80)}…` : id;
  return new OutlastError("OUTLAST_ITEM_TOO_LARGE", `item ${name} cannot be sent to ${target}: ${what}`, {
    operation: "send",
    target: name,
    hint: "publish where the data is (a path or a gs:// URL), not the data itself",
  });
}
