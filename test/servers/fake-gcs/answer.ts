/** What the fake sends back. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is, instead of `body` in JSON. */
  readonly bytes?: Uint8Array;
}

/** An error as the JSON API words it; `isMedia` asks for the plain text that media reads get. */
export function failure(status: number, reason: string, message: string, isMedia = false): Answer {
  if (isMedia) return { status, headers: { "content-type": "text/html; charset=UTF-8" }, bytes: Buffer.from(message) };
  const errors = [{ message, domain: status === 429 ? "usageLimits" : "global", reason }];
  return { status, body: { error: { code: status, message, errors } } };
}

export const noBucket = (isMedia = false): Answer =>
  failure(404, "notFound", "The specified bucket does not exist.", isMedia);

export const noObject = (bucket: string, name: string, isMedia = false): Answer =>
  failure(404, "notFound", `No such object: ${bucket}/${name}`, isMedia);

export const conditionFailed = (isMedia = false): Answer =>
  failure(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.", isMedia);

/**
 * Keeps only what a `fields` parameter names, such as `items(name,size),nextPageToken`: what a client forgets to ask for, it
 * does not get.
 */
export function maskFields(body: unknown, fields: string | null): unknown {
  if (fields === null || typeof body !== "object" || body === null) return body;
  const kept: Record<string, unknown> = {};
  for (const [, name = "", inner] of fields.matchAll(/([A-Za-z0-9]+)(?:\(([^)]*)\))?/g)) {
    const value = (body as Record<string, unknown>)[name];
    if (value === undefined) continue;
    if (inner === undefined) kept[name] = value;
    else kept[name] = Array.isArray(value) ? value.map((one) => maskFields(one, inner)) : maskFields(value, inner);
  }
  return kept;
}
