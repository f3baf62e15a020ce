import type { ApiCall, JsonApi } from "./api.ts";
import { jsonSink } from "./http-failure.ts";

/** One page of a listing. */
export interface Page {
  readonly items: readonly { readonly name: string; readonly size: number }[];
  readonly prefixes: readonly string[];
  readonly next: string | undefined;
}

/** What to list. */
export interface ListQuery {
  readonly bucket: string;
  readonly prefix: string;
  /** `folders` gives only the common beginnings up to the next `/`. */
  readonly what: "objects" | "folders";
}

/** The pages of a listing, in the order of names. */
export async function* listPages(
  query: ListQuery,
  send: (call: ApiCall) => Promise<Page>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Page> {
  const parameters = new URLSearchParams({
    prefix: query.prefix,
    maxResults: "1000",
    fields: query.what === "folders" ? "prefixes,nextPageToken" : "items(name,size),nextPageToken",
    ...(query.what === "folders" && { delimiter: "/" }),
  });
  for (;;) {
    const path = `/storage/v1/b/${encodeURIComponent(query.bucket)}/o?${parameters.toString()}`;
    const page = await send({ method: "GET", path, signal });
    yield page;
    if (page.next === undefined) return;
    parameters.set("pageToken", page.next);
  }
}

/** Asks for one page. */
export function sendForPage(api: JsonApi, call: ApiCall): Promise<Page> {
  return api.send(call, (response) => jsonSink(response, readPage));
}

function readPage(answer: Record<string, unknown>): Page {
  const { items, prefixes, nextPageToken } = answer as {
    items?: { name?: unknown; size?: unknown }[];
    prefixes?: unknown[];
    nextPageToken?: unknown;
  };
  return {
    items: (items ?? []).map((item) => ({ name: String(item.name), size: Number(item.size ?? 0) })),
    prefixes: (prefixes ?? []).map(String),
    next: typeof nextPageToken === "string" && nextPageToken !== "" ? nextPageToken : undefined,
  };
}
