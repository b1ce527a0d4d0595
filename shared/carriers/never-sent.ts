import { TimeoutError } from "../platform/aws/http-transport.ts";

/** Node's error codes for a connection that could not be made, because of the name, the network, or the certificate. */
const connectErrors = new Set([
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/**
 * Whether an error proves that a request never left this machine, so that it had no effect. A broken connection proves
 * nothing, because it may have broken after the request arrived.
 */
export function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TimeoutError && error.wasNeverSent) return true;
  return "code" in error && connectErrors.has(String(error.code));
}
