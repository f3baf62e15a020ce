import { isOutlastError, OutlastError, systemCode } from "../../core/index.ts";

const role = { read: "roles/storage.objectViewer", write: "roles/storage.objectUser" } as const;

/** The role that is enough for a kind of access. */
export function roleFor(access: "read" | "write"): string {
  return role[access];
}

/** What a failed search for credentials, or for an access token, means to a user. Never carries what the library threw: that
 * may hold the request with its secrets. */
export function credentialError(error: unknown, access: "read" | "write"): OutlastError {
  if (isOutlastError(error)) return error;
  const { message, status, reason } = readFailure(error);
  const denied = (what: string, hint: string) =>
    new OutlastError("OUTLAST_STORE_DENIED", what, { operation: "authorise", hint });
  if (/default credentials/i.test(message)) {
    return denied(
      "no Google Cloud credentials were found: GOOGLE_APPLICATION_CREDENTIALS is not set, gcloud has left no " +
        "application_default_credentials.json, and no metadata server answers",
      "on GKE give the pod a service account by Workload Identity; elsewhere run `gcloud auth application-default login`, or " +
        "set GOOGLE_APPLICATION_CREDENTIALS to a service account's key file",
    );
  }
  const text = `${message} ${reason}`;
  if (/\biat\b|\bexp\b|reasonable timeframe|short-lived token|not yet valid|CERT_NOT_YET_VALID/i.test(text)) {
    return denied(
      `Google refused to give an access token because this machine's clock is off: ${reason || message}`,
      "set the clock (timedatectl set-ntp true), then start again",
    );
  }
  if (/invalid_rapt|reauth|expired or revoked/i.test(text)) {
    return denied(
      `the login that gcloud keeps has ended: ${reason || message}`,
      "run `gcloud auth application-default login` again",
    );
  }
  if (/invalid_grant|invalid_client|unauthorized_client|invalid_target|invalid_scope/i.test(text)) {
    return denied(
      `Google refused to give an access token: ${reason || message}`,
      "the key may have been deleted or its service account disabled: make a new key, or use Workload Identity",
    );
  }
  if (status === 401 || status === 403 || status === 404) {
    return denied(
      `this machine's service account got no access token (status ${status}): ${reason || message}`,
      "on GKE bind the Kubernetes service account by Workload Identity and give it " +
        `${roleFor(access)} on the bucket; on a VM attach a service account`,
    );
  }
  if (isAboutFile(error, message)) {
    return denied(
      `the credential file cannot be used: ${message}`,
      "set GOOGLE_APPLICATION_CREDENTIALS to a readable file in JSON, as `gcloud` or the console writes it",
    );
  }
  return new OutlastError("OUTLAST_STORE_UNREACHABLE", `no access token could be got: ${reason || message}`, {
    operation: "authorise",
    hint: "if it goes on, check that this machine reaches the metadata server or oauth2.googleapis.com",
    recovery: "retry",
  });
}

function isAboutFile(error: unknown, message: string): boolean {
  const code = systemCode(error);
  if (code === "ENOENT" || code === "EACCES" || code === "EISDIR" || error instanceof SyntaxError) return true;
  return /credential file|does not exist, or it is not a file|incoming JSON object|file path is invalid/i.test(message);
}

interface Failure {
  readonly message: string;
  readonly status: number | undefined;
  /** What the token server said. */
  readonly reason: string;
}

function readFailure(error: unknown): Failure {
  const { status, response } = (typeof error === "object" && error !== null ? error : {}) as {
    status?: unknown;
    response?: { status?: unknown; data?: unknown };
  };
  const known = [response?.status, status].find((value) => typeof value === "number");
  return {
    message: clean(error instanceof Error ? error.message : String(error)),
    status: known,
    reason: clean(reasonIn(response?.data)),
  };
}

function reasonIn(data: unknown): string {
  if (typeof data === "string") return data;
  if (typeof data !== "object" || data === null) return "";
  const { error, error_description: description } = data as { error?: unknown; error_description?: unknown };
  return [error, description].filter((part) => typeof part === "string").join(": ");
}

/** One short line without anything that looks like a token, key or assertion. */
function clean(text: string): string {
  const line = text
    .replace(/-----BEGIN[^-]*-----[\s\S]*?(-----END[^-]*-----|$)/g, "…")
    .replace(/\b(Bearer\s+)?(ya29\.|1\/\/|eyJ)[A-Za-z0-9._~+/=-]+/g, "…")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
