import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { ConnectionLost, type Sink } from "./exchange.ts";

/** An answer whose status is not the one hoped for. */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The server's word for the cause, such as `forbidden`; empty when it gave none. */
  readonly reason: string;

  constructor(status: number, headers: IncomingHttpHeaders, body: string) {
    const { message, reason } = readError(body);
    super(message === "" ? `status ${status}` : message);
    this.status = status;
    this.headers = headers;
    this.reason = reason;
  }
}

/** An answer that no Cloud Storage server gives. */
export class ForeignAnswer extends Error {
  override readonly name = "ForeignAnswer";
}

const longestText = 32 * 1024 * 1024;

/** Collects a body as text. */
export function textSink<T>(read: (text: string) => T): Sink<T> {
  const parts: Buffer[] = [];
  let size = 0;
  return {
    take(part) {
      size += part.length;
      if (size > longestText) throw new ForeignAnswer("the answer is longer than any listing");
      parts.push(part);
    },
    end: () => read(Buffer.concat(parts).toString("utf8")),
  };
}

/** Collects an answer in JSON; a status other than 2xx is thrown as an {@link HttpFailure}. */
export function jsonSink<T>(response: IncomingMessage, read: (answer: Record<string, unknown>) => T): Sink<T> {
  if (!isFine(response)) return failureSink(response);
  return textSink((text) => {
    // Deleting answers 204, and fake-gcs-server `null`.
    const answer: unknown = text.trim() === "" ? null : parseJson(text);
    if (answer !== null && (typeof answer !== "object" || Array.isArray(answer))) throw foreign();
    return read((answer ?? {}) as Record<string, unknown>);
  });
}

/** Collects what the server says about a failure, and throws it. */
export function failureSink<T>(response: IncomingMessage): Sink<T> {
  const status = response.statusCode ?? 0;
  return textSink((text): T => {
    throw new HttpFailure(status, response.headers, text);
  });
}

function isFine(response: IncomingMessage): boolean {
  const status = response.statusCode ?? 0;
  return status >= 200 && status < 300;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw foreign();
  }
}

function foreign(): ForeignAnswer {
  return new ForeignAnswer("the answer is not what the Cloud Storage JSON API sends");
}

/** Errors come as JSON, or as plain text or XML where media was asked for. */
function readError(body: string): { readonly message: string; readonly reason: string } {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown; errors?: { reason?: unknown }[] } };
    const reason = error?.errors?.[0]?.reason;
    return {
      message: shorten(typeof error?.message === "string" ? error.message : ""),
      reason: typeof reason === "string" ? reason : "",
    };
  } catch {
    // Not JSON: the words of the page will have to do.
    return { message: shorten(body.replace(/<[^>]*>/g, " ")), reason: "" };
  }
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

/** A body that ended before its announced length. */
export function truncated(got: number, wanted: number): ConnectionLost {
  return new ConnectionLost(`the answer ended after ${got} of ${wanted} bytes`);
}
