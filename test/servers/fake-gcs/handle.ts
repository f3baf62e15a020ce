import { type Answer, failure, maskFields, noBucket, noObject } from "./answer.ts";
import { FakeBucket } from "./bucket.ts";
import { unmetCondition } from "./conditions.ts";
import { describeObject } from "./describe-object.ts";
import { insertObject, tooSoon } from "./insert.ts";
import { listObjects } from "./list.ts";
import { mediaOf } from "./media.ts";

/** A request, read to its end. */
export interface FakeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** What {@link FakeCloud} does besides keeping objects. */
export interface FakeCloudOptions {
  /** Refuses a second change of one name within a second with 429, as Cloud Storage does. @default false */
  readonly onePerSecond?: boolean;
  /** Where new buckets are said to be. @default "US-CENTRAL1" */
  readonly location?: string;
  /** @default Date.now */
  readonly now?: () => number;
}

/** The buckets, and the answers of the JSON API about them. Every request is answered in one go, so none sees half a change. */
export class FakeCloud {
  readonly buckets: Map<string, FakeBucket> = new Map();
  readonly #options: FakeCloudOptions;
  #generation = BigInt(Date.now()) * 1000n;

  constructor(options: FakeCloudOptions = {}) {
    this.#options = options;
  }

  /** Makes a bucket. */
  createBucket(name: string, location = this.#options.location ?? "US-CENTRAL1"): FakeBucket {
    const bucket = new FakeBucket(name, location, () => (this.#generation += 1n));
    this.buckets.set(name, bucket);
    return bucket;
  }

  /** The answer to a request. */
  handle(request: FakeRequest): Answer {
    const { pathname, searchParams } = request.url;
    const [, isUpload, bucketName, , objectName] =
      /^(\/upload)?\/storage\/v1\/b(?:\/([^/]+))?(\/o(?:\/([^/]+))?)?\/?$/.exec(pathname) ?? [];
    const answer = this.#route(request, {
      isKnown: pathname.includes("/storage/v1/b"),
      isUpload: isUpload !== undefined,
      bucketName: bucketName === undefined ? undefined : decodeURIComponent(bucketName),
      isAboutObjects: /\/o(\/[^/]+)?\/?$/.test(pathname),
      objectName: objectName === undefined ? undefined : decodeURIComponent(objectName),
    });
    return answer.status < 300 && answer.body !== undefined
      ? { ...answer, body: maskFields(answer.body, searchParams.get("fields")) }
      : answer;
  }

  #route(request: FakeRequest, path: Path): Answer {
    const { method, url } = request;
    const nowMs = (this.#options.now ?? Date.now)();
    if (!path.isKnown) return failure(404, "notFound", "Not Found");
    if (path.bucketName === undefined) return method === "POST" ? this.#create(request) : wrongMethod();
    const bucket = this.buckets.get(path.bucketName);
    if (!bucket) return noBucket(url.searchParams.get("alt") === "media");
    if (path.isUpload) {
      const contentType = String(request.headers["content-type"] ?? "");
      const onePerSecond = this.#options.onePerSecond ?? false;
      if (method !== "POST") return wrongMethod();
      return insertObject(bucket, url.searchParams, contentType, request.body, { onePerSecond, nowMs });
    }
    if (path.objectName !== undefined) return this.#object(request, bucket, path.objectName, nowMs);
    if (method !== "GET") return wrongMethod();
    if (path.isAboutObjects) return listObjects(bucket, url.searchParams);
    return { status: 200, body: describeBucket(bucket) };
  }

  #object({ method, url, headers }: FakeRequest, bucket: FakeBucket, name: string, nowMs: number): Answer {
    const query = url.searchParams;
    const isMedia = method === "GET" && query.get("alt") === "media";
    const object = bucket.objects.get(name);
    const generation = query.get("generation");
    if (!object || (generation !== null && BigInt(generation) !== object.generation)) {
      return noObject(bucket.name, name, isMedia);
    }
    const unmet = unmetCondition(query, object, { isRead: method === "GET", isMedia });
    if (unmet) return unmet;
    if (method === "GET") {
      const range = headers["range"];
      return isMedia
        ? mediaOf(object, typeof range === "string" ? range : undefined)
        : { status: 200, body: describeObject(bucket, object) };
    }
    if (method !== "DELETE") return wrongMethod();
    if (this.#options.onePerSecond && bucket.isTooSoon(name, nowMs)) return tooSoon(bucket.name, name);
    bucket.delete(name);
    return { status: 204 };
  }

  #create({ body }: FakeRequest): Answer {
    const { name, location } = JSON.parse(body.toString("utf8")) as { name?: string; location?: string };
    if (!name) return failure(400, "required", "Required bucket name is missing.");
    if (this.buckets.has(name))
      return failure(409, "conflict", "Your previous request to create the named bucket succeeded.");
    return { status: 200, body: describeBucket(this.createBucket(name, location)) };
  }
}

interface Path {
  readonly isKnown: boolean;
  readonly isUpload: boolean;
  readonly bucketName: string | undefined;
  readonly isAboutObjects: boolean;
  readonly objectName: string | undefined;
}

function describeBucket(bucket: FakeBucket): Record<string, unknown> {
  const { name, location } = bucket;
  return { kind: "storage#bucket", id: name, name, location, storageClass: "STANDARD", metageneration: "1" };
}

function wrongMethod(): Answer {
  return failure(405, "methodNotAllowed", "Method Not Allowed");
}
