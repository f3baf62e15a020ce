import { type ErrorDetails, isOutlastError, OutlastError } from "../../core/index.ts";
import { connectionMeaning } from "./connection-meaning.ts";
import { credentialMeaning } from "./credential-meaning.ts";
import { type Meaning, type S3Call, said } from "./meaning.ts";
import { S3Failure } from "./s3-failure.ts";
import { serverMeaning } from "./server-meaning.ts";

/** Says what a failed call means to a user, and whether doing it again can help. */
export function s3Error(error: unknown, call: S3Call): OutlastError {
  if (isOutlastError(error)) return error;
  const answer = error instanceof S3Failure ? error : S3Failure.of(error);
  const meaning = meaningOf(answer, call);
  const retryAfterMs = retryAfter(answer.retryAfter);
  const details: ErrorDetails = {
    operation: call.operation,
    target: call.target,
    cause: answer,
    hint: meaning.hint,
    ...(meaning.recovery && { recovery: meaning.recovery, retryAfterMs }),
  };
  return new OutlastError(meaning.code, `cannot ${call.operation} ${call.target}: ${meaning.what}`, details);
}

function meaningOf(answer: S3Failure, call: S3Call): Meaning {
  return (
    credentialMeaning(answer, call) ??
    placeMeaning(answer, call) ??
    serverMeaning(answer, call) ??
    connectionMeaning(answer, call) ?? {
      code: "OUTLAST_STORE_FAILED",
      what: said(answer),
      hint: `check the bucket ${call.bucket} and what its server's log says`,
    }
  );
}

function placeMeaning(answer: S3Failure, { bucket, endpoint }: S3Call): Meaning | undefined {
  const code = "OUTLAST_BUCKET_MISSING";
  const { name, status, region, message } = answer;
  if (name === "NoSuchBucket") {
    return {
      code,
      what: `there is no bucket ${bucket}${endpoint === undefined ? "" : ` on ${endpoint}`}`,
      hint: endpoint === undefined ? "create it, or correct the store's name" : "create it, or correct ?endpoint=",
    };
  }
  if (
    status === 301 ||
    status === 307 ||
    name === "PermanentRedirect" ||
    name === "AuthorizationHeaderMalformed" ||
    name === "IllegalLocationConstraintException"
  ) {
    return {
      code,
      what: `the bucket ${bucket} is in ${region === undefined ? "another region" : `the region ${region}`}`,
      hint: `add ?region=${region ?? "NAME"} to the store, or set AWS_REGION`,
    };
  }
  if (message.startsWith("Region is missing")) {
    return {
      code: "OUTLAST_USAGE",
      what: "no region is given",
      hint: "add ?region=NAME to the store, or set AWS_REGION",
    };
  }
  return undefined;
}

/** `Retry-After` in milliseconds; given as a date it is left to our own backoff. */
function retryAfter(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,4}$/.test(text.trim()) ? Number(text) * 1000 : undefined;
}
