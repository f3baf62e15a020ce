import { systemCode } from "../../core/index.ts";

/** What is known of a failure. */
interface Facts {
  readonly name: string;
  readonly status: number | undefined;
  readonly system: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly region: string | undefined;
  readonly isClockCorrected: boolean;
}

/**
 * What an error of the AWS client tells, gathered from the several places where it may stand. The error itself is not kept:
 * it holds the request with its signature and session token, and the socket.
 */
export class S3Failure extends Error {
  /** The server's code, such as `NoSuchBucket`, or the client's name for the failure. */
  override readonly name: string;
  /** Undefined when no answer came. */
  readonly status: number | undefined;
  /** Node's code, such as `ECONNRESET`. */
  readonly system: string | undefined;
  readonly region: string | undefined;
  readonly date: string | undefined;
  readonly retryAfter: string | undefined;
  readonly isRequesterCharged: boolean;
  /** Whether the client has learnt the server's time from this failure and signs with it from now on. */
  readonly isClockCorrected: boolean;

  private constructor(message: string, facts: Facts) {
    super(message);
    this.name = facts.name;
    this.status = facts.status;
    this.system = facts.system;
    this.region = facts.region;
    this.date = facts.headers["date"];
    this.retryAfter = facts.headers["retry-after"];
    this.isRequesterCharged = facts.headers["x-amz-request-charged"] !== undefined;
    this.isClockCorrected = facts.isClockCorrected;
  }

  /** Reads whatever a call of the client may throw. */
  static of(error: unknown): S3Failure {
    const fields: Fields = typeof error === "object" && error !== null ? error : {};
    const headers = fields.$response?.headers ?? {};
    const message = typeof fields.message === "string" ? fields.message : String(error);
    return new S3Failure(message, {
      name: fields.Code ?? fields.name ?? "Error",
      status: fields.$response?.statusCode ?? fields.$metadata?.httpStatusCode,
      system: systemCode(error),
      headers,
      region: headers["x-amz-bucket-region"] ?? fields.Region ?? /expecting '([a-z0-9-]+)'/.exec(message)?.[1],
      isClockCorrected: fields.$metadata?.clockSkewCorrected === true,
    });
  }
}

/** The failure behind an error of the store, if the server or the connection was the cause. */
export function failureBehind(error: unknown): S3Failure | undefined {
  return error instanceof Error && error.cause instanceof S3Failure ? error.cause : undefined;
}

interface Fields {
  readonly name?: string;
  readonly message?: unknown;
  readonly Code?: string;
  readonly Region?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean };
  readonly $response?: { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> };
}
