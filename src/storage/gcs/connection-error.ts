import { type ErrorDetails, OutlastError, systemCode } from "../../core/index.ts";
import { ConnectionLost } from "./exchange.ts";
import { ForeignAnswer } from "./http-failure.ts";
import { WrongChecksum } from "./read-object.ts";
import type { FailedCall } from "./store-error.ts";

/** What it means to a user that a request got no usable answer. */
export function connectionError(error: unknown, call: FailedCall): OutlastError {
  const { origin } = call.endpoint;
  const code = systemCode(error);
  const reason = error instanceof Error ? error.message : String(error);
  const make = (errorCode: "OUTLAST_STORE_UNREACHABLE" | "OUTLAST_STORE_FAILED", what: string, details: ErrorDetails) =>
    new OutlastError(errorCode, `cannot ${call.operation} ${call.target}: ${what}`, {
      operation: call.operation,
      target: call.target,
      cause: error,
      ...details,
    });
  if (error instanceof ForeignAnswer) {
    return make("OUTLAST_STORE_FAILED", `${origin} does not answer like Cloud Storage: ${reason}`, {
      hint: endpointHint(call),
    });
  }
  if (error instanceof WrongChecksum) {
    return make("OUTLAST_STORE_FAILED", `the bytes were changed on their way: ${reason}`, {
      hint: "it is tried again; if it goes on, a proxy between here and the store changes what it passes on",
      recovery: "retry",
    });
  }
  if (code === "CERT_NOT_YET_VALID" || code === "CERT_HAS_EXPIRED") {
    return make("OUTLAST_STORE_FAILED", `the certificate of ${origin} is not valid at this time (${code})`, {
      hint: "this machine's clock is probably off: set it (timedatectl set-ntp true), then start again",
    });
  }
  if (code === "EPROTO" || (code !== undefined && isAboutCertificate(code))) {
    return make("OUTLAST_STORE_FAILED", `no secure connection to ${origin}: ${reason}`, {
      hint: `${endpointHint(call)}; behind a proxy of your own, name its certificate in NODE_EXTRA_CA_CERTS`,
    });
  }
  if (error instanceof ConnectionLost || (code !== undefined && isAboutConnection(code))) {
    return make("OUTLAST_STORE_UNREACHABLE", `${origin} cannot be reached: ${reason}`, {
      hint: `it is tried again; if it goes on, ${endpointHint(call)}`,
      recovery: "retry",
    });
  }
  return make("OUTLAST_STORE_FAILED", reason, { hint: "this may be a fault of outlast: report it with this message" });
}

function isAboutConnection(code: string): boolean {
  return /^(E[A-Z]+|EAI_[A-Z]+|HPE_[A-Z_]+|ERR_STREAM_[A-Z_]+|ERR_SOCKET_[A-Z_]+|ERR_SSL_[A-Z_]+)$/.test(code);
}

function isAboutCertificate(code: string): boolean {
  return /CERT|SIGNATURE|^UNABLE_TO_|^HOSTNAME_MISMATCH/.test(code);
}

function endpointHint(call: FailedCall): string {
  if (call.place.endpoint !== undefined) return "check the endpoint in the store's URL";
  if (call.endpoint.isGoogle) return "check that this machine may reach storage.googleapis.com";
  return "check STORAGE_EMULATOR_HOST, or unset it to use Google Cloud Storage";
}
