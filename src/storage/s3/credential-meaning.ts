import { type Meaning, type S3Call, said } from "./meaning.ts";
import type { S3Failure } from "./s3-failure.ts";

/** What a failure says about who is asking: no credentials, wrong ones, or ones that may not. */
export function credentialMeaning(answer: S3Failure, { action, bucket, hasWorked }: S3Call): Meaning | undefined {
  const { name, message, status } = answer;
  const code = "OUTLAST_STORE_DENIED";
  if (name === "CredentialsProviderError") {
    return {
      code,
      what: `no credentials were found for the bucket ${bucket} (${message})`,
      hint:
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (~/.aws/credentials, ~/.aws/config), or run where a " +
        "role is given: AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN, a container role, or an instance role",
      ...(hasWorked && { recovery: "retry" as const }),
    };
  }
  if (name === "InvalidAccessKeyId" || name === "InvalidClientTokenId" || name === "UnrecognizedClientException") {
    return {
      code,
      what: "the server does not know this access key",
      hint: "check AWS_ACCESS_KEY_ID (or the profile): it may be deleted, or belong to another server",
    };
  }
  if (name === "SignatureDoesNotMatch") {
    return {
      code,
      what: "the signature does not match the access key",
      hint: "check AWS_SECRET_ACCESS_KEY (or the profile); a proxy that changes headers has the same effect",
    };
  }
  if (name === "ExpiredToken" || name === "ExpiredTokenException" || name === "TokenRefreshRequired") {
    return {
      code,
      what: "the session's credentials have run out",
      hint: "get new ones; a role (web identity, container, instance) renews them by itself",
      recovery: "retry",
    };
  }
  if (name === "InvalidToken") {
    return { code, what: "the session token is not valid", hint: "check AWS_SESSION_TOKEN: unset it with a fixed key" };
  }
  if (name === "RequestTimeTooSkewed" || name === "RequestExpired") {
    return {
      code,
      what: `this machine's clock is wrong: the server's time is ${answer.date ?? "more than 15 minutes away"}`,
      hint: "set the clock (chrony, systemd-timesyncd)",
      // The client now knows the difference and signs with the server's time.
      ...(answer.isClockCorrected && { recovery: "retry" as const }),
    };
  }
  if (status === 403 && isRequesterPays(answer)) {
    return {
      code,
      what: `the bucket ${bucket} makes the requester pay, which outlast does not do`,
      hint: "let the bucket's owner turn Requester Pays off, or choose another bucket",
    };
  }
  if (name === "InvalidObjectState") {
    return {
      code: "OUTLAST_STORE_FAILED",
      what: "the object was moved to an archive class and cannot be read there",
      hint: "restore it from the archive, and take the run's prefix out of that lifecycle rule",
    };
  }
  if (name === "AllAccessDisabled" || name === "AccountProblem") {
    return { code, what: said(answer), hint: "ask who administers the account that owns the bucket" };
  }
  if (status === 403 || status === 401 || name === "AccessDenied") {
    const missing = /perform: (\w+:\w+)/.exec(message)?.[1] ?? action;
    return {
      code,
      what: `these credentials lack ${missing} on the bucket ${bucket}`,
      hint: "allow s3:ListBucket on the bucket and s3:GetObject, s3:PutObject and s3:DeleteObject on its objects",
    };
  }
  return undefined;
}

/** Amazon answers a plain 403; what gives it away is the header or, on other servers, the text. */
function isRequesterPays({ isRequesterCharged, message }: S3Failure): boolean {
  return isRequesterCharged || /requester.?pays/i.test(message);
}
