import { TimeoutError } from "../platform/aws/http-transport.ts";

/** What Node says when it could not make a connection at all: the name, the network, or the other side's certificate. */
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
 * Whether an error says that a request never left this machine, so that whatever it asked for has not been done. A
 * connection that broke says nothing of the kind: it may have broken after the request had arrived.
 */
export function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TimeoutError && error.wasNeverSent) return true;
  return "code" in error && connectErrors.has(String(error.code));
}
