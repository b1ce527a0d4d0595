import type { WebhookPayload } from "../api/contract/webhooks.ts";
import { epochSeconds, now, secondMs } from "../platform/clock.ts";
import { requestOf } from "../platform/http/client-of.ts";
import { guardedLookup, isPublicHost, RejectedHost } from "../platform/http/webhook-target.ts";
import { timedOut } from "./in-flight-calls.ts";
import type { WebhookRecord } from "./record.ts";
import { serviceSignature, standardSignatures, type SigningSecrets } from "./signature.ts";

/** The longest duration of a call, from the name's lookup to the last header of the response. */
const callTimeoutMs = 10 * secondMs;

/** The longest duration until the receiver's name is looked up, and its connection is there. One packet may be lost on the way. */
const connectTimeoutMs = 3 * secondMs;

/** The largest size of a response's headers. Its body is not read. */
const maxHeaderBytes = 16 * 1024;

/** The result of a call: the response, or the reason for the customer why there was none. */
export type CallResult =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly error: string };

/** A webhook with its signing secrets. */
export type CallableWebhook = WebhookRecord & SigningSecrets;

/**
 * Makes one signed call. It follows no redirects, and does not use the connection again. The call ends after ten
 * seconds at most, and after three without a connection.
 */
export async function callWebhook(
  webhook: CallableWebhook,
  event: { readonly id: string; readonly payload: WebhookPayload },
): Promise<CallResult> {
  const url = new URL(webhook.url);
  const at = now();
  const body = JSON.stringify(event.payload);
  const message = { id: event.id, timestampSeconds: epochSeconds(at), body };
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    "User-Agent": "sms-gateway-webhooks/1",
    "X-Service-Event": event.payload.event,
    "X-Service-Signature": serviceSignature(webhook.secret, body),
    "webhook-id": message.id,
    "webhook-timestamp": String(message.timestampSeconds),
    "webhook-signature": standardSignatures(webhook, at, message),
  };
  const signal = AbortSignal.timeout(callTimeoutMs);
  const request = requestOf(url.protocol);
  try {
    if (!isPublicHost(url)) throw new RejectedHost();
    return await new Promise((resolve, reject) => {
      const outgoing = request(
        url,
        {
          method: "POST",
          headers,
          lookup: guardedLookup,
          signal,
          agent: false,
          maxHeaderSize: maxHeaderBytes,
        },
        (response) => {
          resolve({ status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"] });
          response.destroy();
        },
      );
      outgoing.on("error", reject);
      const connecting = setTimeout(() => outgoing.destroy(new ConnectTimeout()), connectTimeoutMs);
      outgoing.on("close", () => clearTimeout(connecting));
      outgoing.on("socket", (socket) => {
        socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(connecting));
      });
      // A receiver that switches protocols ends the call without a response and without an error.
      outgoing.on("close", () => reject(new Error("the connection was closed without a response")));
      outgoing.end(body);
    });
  } catch (error) {
    return { error: signal.aborted ? timedOut : problemOf(error) };
  }
}

const problems: Readonly<Record<string, string>> = {
  EAI_AGAIN: "host not found",
  ECONNREFUSED: "connection refused",
  HPE_HEADER_OVERFLOW: "the headers of the response are too large",
  EHOSTUNREACH: "host not reachable",
  ENETUNREACH: "host not reachable",
  ENOTFOUND: "host not found",
  ETIMEDOUT: timedOut,
};

class ConnectTimeout extends Error {
  readonly code = "ETIMEDOUT";
}

/** Returns the error for the customer. It names what the customer can fix, and nothing about the gateway. */
function problemOf(error: unknown): string {
  if (error instanceof RejectedHost) return "the host is not a public address";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const problem = problems[code];
  if (problem !== undefined) return problem;
  if (code.startsWith("HPE_")) return "not an HTTP response";
  if (/CERT|_TLS_|_SSL_|EPROTO/.test(code)) return "no secure connection: check the certificate";
  return "connection broken";
}
