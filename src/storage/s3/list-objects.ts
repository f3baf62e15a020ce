import { ListObjectsV2Command, type ListObjectsV2CommandOutput } from "@aws-sdk/client-s3";
import { OutlastError } from "../../core/index.ts";
import { asideFolder, isKey, isKeySegment } from "../keys.ts";
import type { CallOptions, ListOptions, ObjectInfo } from "../object-store.ts";
import type { S3Caller } from "./s3-caller.ts";

/** Every object whose key begins with `prefix`, page after page; what other programs put there is left out. */
export async function* listObjects(
  caller: S3Caller,
  prefix: string,
  options: ListOptions | undefined,
): AsyncGenerator<ObjectInfo> {
  const skip = caller.place.prefix.length;
  const inOrder = orderGuard(caller);
  for await (const page of listPages(caller, { prefix }, options)) {
    for (const { Key: name, Size: size } of page.Contents ?? []) {
      const key = decode(name ?? "").slice(skip);
      if (size === undefined) continue;
      if (isKey(key)) inOrder(key);
      else if (!options?.everyName || key.endsWith("/")) continue;
      options?.signal?.throwIfAborted();
      yield { key, size };
    }
  }
}

/** The names directly below `prefix` that hold objects: the server folds what lies deeper. */
export async function* listFolders(
  caller: S3Caller,
  prefix: string,
  options: CallOptions | undefined,
): AsyncGenerator<string> {
  const skip = caller.place.prefix.length + prefix.length;
  const inOrder = orderGuard(caller);
  for await (const page of listPages(caller, { prefix, delimiter: "/" }, options)) {
    for (const { Prefix: path } of page.CommonPrefixes ?? []) {
      const name = decode(path ?? "").slice(skip);
      const segment = name.slice(0, -1);
      if (!isKeySegment(segment) || (prefix === "" && segment === asideFolder)) continue;
      inOrder(name);
      options?.signal?.throwIfAborted();
      yield name;
    }
  }
}

interface Listing {
  readonly prefix: string;
  readonly delimiter?: string;
  /** @default as many as the server gives */
  readonly most?: number;
}

/** One page of a listing after another; each is a request of its own. */
export async function* listPages(
  caller: S3Caller,
  { prefix, delimiter, most }: Listing,
  options: CallOptions | undefined,
): AsyncGenerator<ListObjectsV2CommandOutput> {
  const { place, endpoint } = caller;
  const name = { operation: "list", target: prefix === "" ? place.url : prefix, action: "s3:ListBucket" };
  let token: string | undefined;
  do {
    const input = {
      Bucket: place.bucket,
      Prefix: place.prefix + prefix,
      // Names of other programs may hold what XML cannot.
      EncodingType: "url" as const,
      ...(delimiter !== undefined && { Delimiter: delimiter }),
      ...(most !== undefined && { MaxKeys: most }),
      ...(token !== undefined && { ContinuationToken: token }),
    };
    const page = await caller.call(name, options, (client, http) => client.send(new ListObjectsV2Command(input), http));
    if (page.IsTruncated === undefined && page.Name === undefined) {
      throw unsuitable(caller, `${endpoint ?? "the server"} does not answer as S3 does`);
    }
    yield page;
    token = page.IsTruncated ? page.NextContinuationToken : undefined;
    if (page.IsTruncated && token === undefined) throw unsuitable(caller, "a listing was cut short");
  } while (token !== undefined);
}

/** Keys must rise: recovery bisects the log by them. Directory buckets (S3 Express) do not keep to that. */
function orderGuard(caller: S3Caller): (key: string) => void {
  let last = "";
  return (key) => {
    if (key <= last) throw unsuitable(caller, "its listings are not in the order of keys");
    last = key;
  };
}

function unsuitable({ place }: S3Caller, what: string): OutlastError {
  return new OutlastError("OUTLAST_STORE_UNSUITABLE", `${place.url} cannot hold a store: ${what}`, {
    operation: "list",
    target: place.url,
    hint: "use a general purpose bucket of Amazon S3, or a server that speaks its protocol; check ?endpoint=",
  });
}

function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    // As in a form: a blank is a plus, and a plus is %2B.
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    // Not a name of ours; left as it is, it is no key.
    return text;
  }
}
