import { flaky, type Meaning, type S3Call } from "./meaning.ts";
import type { S3Failure } from "./s3-failure.ts";

const certificates =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** What a failure says about the way to the server. */
export function connectionMeaning(answer: S3Failure, { endpoint }: S3Call): Meaning | undefined {
  const code = "OUTLAST_STORE_UNREACHABLE";
  const where = endpoint ?? "the store";
  const { name, system } = answer;
  if (name === "WrongLengthError") {
    return { code, what: `the answer was cut off: ${answer.message}`, hint: flaky, recovery: "retry" };
  }
  if (system !== undefined && certificates.test(system)) {
    return {
      code,
      what: `the certificate of ${where} is not trusted (${system})`,
      hint: "name the certificate authority's file in NODE_EXTRA_CA_CERTS, or correct ?endpoint=",
    };
  }
  if (system === "EPROTO" || system === "HPE_INVALID_CONSTANT") {
    return {
      code,
      what: `${where} does not speak ${endpoint?.startsWith("https:") ? "https" : "http"} there (${system})`,
      hint: "check the scheme and port in ?endpoint=",
    };
  }
  if (system === "ENOTFOUND") {
    return {
      code,
      what: `the name of ${where} is not known (ENOTFOUND)`,
      hint: "check ?endpoint= and ?region=, and this machine's DNS",
      recovery: "retry",
    };
  }
  if (system !== undefined || name === "TimeoutError") {
    return {
      code,
      what: `the connection to ${where} failed (${system ?? answer.message})`,
      hint: flaky,
      recovery: "retry",
    };
  }
  return undefined;
}
