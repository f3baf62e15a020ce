import type { IncomingHttpHeaders } from "node:http";
import { type ErrorDetails, isOutlastError, OutlastError } from "../../core/index.ts";
import type { BucketUrl } from "../bucket-url.ts";
import { connectionError } from "./connection-error.ts";
import { roleFor } from "./credential-error.ts";
import type { Endpoint } from "./endpoint.ts";
import { HttpFailure } from "./http-failure.ts";

/** What was being done when a request failed. */
export interface FailedCall {
  readonly operation: string;
  /** A key; or the store's URL where the call is about all of it. */
  readonly target: string;
  readonly place: BucketUrl;
  readonly endpoint: Endpoint;
  readonly access: "read" | "write";
  /** Wall-clock time. */
  readonly nowMs: number;
}

/** What a failed request to the bucket means to a user. */
export function storeError(error: unknown, call: FailedCall): OutlastError {
  if (isOutlastError(error)) return error;
  return error instanceof HttpFailure ? answerError(error, call) : connectionError(error, call);
}

function answerError(failure: HttpFailure, call: FailedCall): OutlastError {
  const { status } = failure;
  if (isPassing(failure)) return passing(failure, call);
  if (status === 401) return unauthorised(failure, call);
  if (status === 403) return forbidden(failure, call);
  if (status === 404) return missing(failure, call);
  if (/requester pays|user project/i.test(failure.message)) return requesterPays(failure, call);
  if (status >= 300 && status < 400) {
    return make(
      "OUTLAST_STORE_FAILED",
      call,
      failure,
      `${call.endpoint.origin} sends us elsewhere (status ${status})`,
      {
        hint: wrongEndpoint(call),
      },
    );
  }
  return make("OUTLAST_STORE_FAILED", call, failure, `the server refused: ${failure.message} (status ${status})`, {
    hint: call.endpoint.isGoogle ? "if this is not clear, report it with this message" : wrongEndpoint(call),
  });
}

/**
 * What Google's retry rules name, and what the bytes may have suffered on their way: a checksum in the request that does not
 * fit (400), and a conflict with another writer (409), which the next attempt sees as decided.
 */
function isPassing({ status, reason, message }: HttpFailure): boolean {
  if (status === 408 || status === 409 || status === 429 || status >= 500) return true;
  if (status === 403) return /rateLimitExceeded/i.test(reason);
  return status === 400 && /crc32c|md5|checksum/i.test(message) && !/requester pays/i.test(message);
}

function passing(failure: HttpFailure, call: FailedCall): OutlastError {
  const isRate = failure.status === 429 || failure.status === 403;
  const what = isRate
    ? `the server asks us to go slower: ${failure.message} (status ${failure.status})`
    : `the server failed: ${failure.message} (status ${failure.status})`;
  // One name takes about one write a second: coming back sooner is refused again.
  const leastMs = isRate && call.operation.startsWith("put") ? 1000 : undefined;
  return make("OUTLAST_STORE_UNREACHABLE", call, failure, what, {
    hint: "it is tried again; if it goes on, look at the status of Cloud Storage and at the bucket's quotas",
    recovery: "retry",
    retryAfterMs: retryAfterMs(failure.headers, call.nowMs) ?? leastMs,
  });
}

/** `Retry-After` as milliseconds: seconds, or a date. */
function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const text = headers["retry-after"];
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function unauthorised(failure: HttpFailure, call: FailedCall): OutlastError {
  const theirs = Date.parse(failure.headers.date ?? "");
  const offMinutes = Math.round(Math.abs(theirs - call.nowMs) / 60_000);
  if (offMinutes >= 5) {
    return make(
      "OUTLAST_STORE_DENIED",
      call,
      failure,
      `the credentials were refused, and this machine's clock is ${offMinutes} minutes off`,
      { hint: "set the clock (timedatectl set-ntp true), then start again" },
    );
  }
  return make("OUTLAST_STORE_DENIED", call, failure, `the credentials were refused: ${failure.message} (status 401)`, {
    hint: call.endpoint.wantsCredentials
      ? "renew them: `gcloud auth application-default login`, a new key file, or Workload Identity on GKE"
      : `${call.endpoint.origin} is used without credentials; ${wrongEndpoint(call)}`,
  });
}

function forbidden(failure: HttpFailure, call: FailedCall): OutlastError {
  const { message, reason } = failure;
  const denied = (what: string, hint: string) => make("OUTLAST_STORE_DENIED", call, failure, what, { hint });
  if (/billing|accountDisabled/i.test(`${message} ${reason}`)) {
    return denied(
      `the bucket's project has no billing: ${message}`,
      "enable billing for the project that owns the bucket",
    );
  }
  if (/retention|object hold|temporary hold/i.test(`${message} ${reason}`)) {
    return denied(
      `the bucket's retention policy or a hold forbids it: ${message}`,
      "use a bucket without a retention policy: checkpoints are replaced and pruned",
    );
  }
  if (/scope/i.test(`${message} ${reason} ${failure.headers["www-authenticate"] ?? ""}`)) {
    return denied(
      `the access token's scope is too narrow: ${message}`,
      "GKE nodes have the scope devstorage.read_only by default: use Workload Identity, or create the node pool with " +
        "--scopes=storage-rw",
    );
  }
  if (/serviceusage|permission to use project|USER_PROJECT_DENIED/i.test(message)) {
    return denied(
      `the account may not charge the project that is to pay: ${message}`,
      "give it roles/serviceusage.serviceUsageConsumer there; the project is named by GOOGLE_CLOUD_QUOTA_PROJECT or by " +
        "gcloud (gcloud auth application-default set-quota-project)",
    );
  }
  if (/vpcServiceControls|organization's policy/i.test(`${message} ${reason}`)) {
    return denied(
      `a policy of the organization forbids it: ${message}`,
      "this machine is outside the perimeter of VPC Service Controls around the bucket: ask who runs it to let it in",
    );
  }
  const principal = /^(\S+@\S+|principal\S+|Anonymous caller) does not have/.exec(message)?.[1];
  const who = principal === undefined || principal === "Anonymous caller" ? "the account" : principal;
  return denied(
    `permission was refused: ${message}`,
    `give ${who} ${roleFor(call.access)} on the bucket ${call.place.bucket} (gcloud storage buckets add-iam-policy-binding ` +
      `gs://${call.place.bucket} --member=… --role=${roleFor(call.access)}); on GKE the account is the one that Workload ` +
      "Identity gives the pod, and without it the node's, whose scope is devstorage.read_only by default",
  );
}

function missing(failure: HttpFailure, call: FailedCall): OutlastError {
  const isAboutBucket = call.operation !== "get" && call.operation !== "delete";
  if (!isAboutBucket && !/bucket does not exist|no such bucket/i.test(failure.message)) {
    return new OutlastError("OUTLAST_OBJECT_NOT_FOUND", `there is no object ${call.target} in the store`, {
      operation: call.operation,
      target: call.target,
      hint: "it was never stored, or it was deleted meanwhile",
      cause: failure,
    });
  }
  const { bucket } = call.place;
  const at = call.endpoint.isGoogle ? "" : ` at ${call.endpoint.origin}`;
  return make("OUTLAST_BUCKET_MISSING", call, failure, `there is no bucket ${bucket}${at}`, {
    hint: call.endpoint.isGoogle
      ? `check the name, or create it beside your machines: gcloud storage buckets create gs://${bucket} --location=REGION`
      : `create the bucket there, or ${wrongEndpoint(call)}`,
  });
}

function requesterPays(failure: HttpFailure, call: FailedCall): OutlastError {
  return make(
    "OUTLAST_STORE_DENIED",
    call,
    failure,
    "the bucket lets the requester pay, and no project to pay is named",
    {
      hint: "set GOOGLE_CLOUD_QUOTA_PROJECT to the project that pays; the account needs serviceusage.services.use there",
    },
  );
}

function wrongEndpoint(call: FailedCall): string {
  return call.place.endpoint === undefined
    ? "check STORAGE_EMULATOR_HOST, or unset it to use Google Cloud Storage"
    : "check the endpoint in the store's URL";
}

function make(
  code: ConstructorParameters<typeof OutlastError>[0],
  call: FailedCall,
  cause: Error,
  what: string,
  details: ErrorDetails,
): OutlastError {
  const { operation, target } = call;
  return new OutlastError(code, `cannot ${operation} ${target}: ${what}`, { operation, target, cause, ...details });
}
