import { flaky, type Meaning, type S3Call, said } from "./meaning.ts";
import type { S3Failure } from "./s3-failure.ts";

const passing: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const passingNames =
  /^(SlowDown|RequestTimeout|RequestTimeoutException|InternalError|ServiceUnavailable|OperationAborted|ConditionalRequestConflict|IncompleteBody|BadDigest|XAmzContentChecksumMismatch|TooManyRequests\w*|[\w.]*Throttl\w*|RequestLimitExceeded|BandwidthLimitExceeded|PriorRequestNotComplete)$/;

/** What a failure says about the server: busy, full, or not fit. */
export function serverMeaning(answer: S3Failure, { bucket }: S3Call): Meaning | undefined {
  const { name, status } = answer;
  if (status === 507 || name === "QuotaExceeded" || name === "XMinioStorageFull" || name === "InsufficientCapacity") {
    return {
      code: "OUTLAST_DISK_FULL",
      what: `no space is left for the bucket ${bucket}`,
      hint: "free space on that server, or lower --keep and run `outlast checkpoints prune`",
    };
  }
  if (status === 501 || name === "NotImplemented") {
    return {
      code: "OUTLAST_STORE_UNSUITABLE",
      what: "the server does not support a request that safe commits need",
      hint: "use a server with conditional writes (If-None-Match), such as Amazon S3, MinIO, Ceph or versitygw",
    };
  }
  if (name === "BadDigest" || name === "XAmzContentChecksumMismatch") {
    return { code: "OUTLAST_STORE_FAILED", what: "bytes were changed on the way", hint: flaky, recovery: "retry" };
  }
  if (passingNames.test(name) || (status !== undefined && passing.has(status))) {
    return {
      code: status === 429 || name === "SlowDown" ? "OUTLAST_STORE_FAILED" : "OUTLAST_STORE_UNREACHABLE",
      what: said(answer),
      hint: "if it goes on, check the server's health and request limits",
      recovery: "retry",
    };
  }
  return undefined;
}
