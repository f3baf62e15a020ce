import type { ErrorCode, ErrorDetails } from "../../core/index.ts";
import type { S3Failure } from "./s3-failure.ts";

/** What was being done when a call failed. */
export interface S3Call {
  readonly operation: string;
  /** The key or prefix, as the caller named it. */
  readonly target: string;
  readonly bucket: string;
  /** The permission it needs, such as `s3:PutObject`. */
  readonly action: string;
  /** The server's address where it is not Amazon's. */
  readonly endpoint: string | undefined;
  /** Whether a request succeeded before: credentials that were there once are only away for now. */
  readonly hasWorked: boolean;
}

/** What a failure means to a user. */
export interface Meaning {
  readonly code: ErrorCode;
  readonly what: string;
  readonly hint: string;
  readonly recovery?: ErrorDetails["recovery"];
}

/** What to do about a connection that fails now and then. */
export const flaky = "if it goes on, check the network between this machine and the store";

/** The failure in the server's own words. */
export function said({ name, message, status }: S3Failure): string {
  const text = message === name || message === "UnknownError" || message === "" ? name : `${name}: ${message}`;
  return status === undefined ? text : `the server answered ${status} (${text})`;
}
