import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

import type { WebhookPayload } from "../contract/webhooks.ts";
import { epochSeconds, now, secondMs } from "../platform/clock.ts";
import type { WebhookRecord } from "./record.ts";
import { serviceSignature, standardSignatures, type SigningSecrets } from "./signature.ts";
import { guardedLookup, isPublicHost, RefusedHost } from "./target.ts";

/** How long a call may take in all, from the look-up of the name to the last of the answer's headers. */
const callTimeoutMs = 10 * secondMs;

/** An answer's headers may have this size; its body is not read at all. */
const maxHeaderBytes = 16 * 1024;

/** What came of a call: an answer, or in words for the customer why there was none. */
export type CallResult =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly error: string };

/** A webhook with what its calls are signed with. */
export type CallableWebhook = WebhookRecord & SigningSecrets;

/**
 * Makes one signed call. Redirects are not followed, the connection is not used again, and whatever the
 * receiver does, the call has ended after ten seconds.
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
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  try {
    if (!isPublicHost(url)) throw new RefusedHost();
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
      // A receiver that switches protocols ends the call without an answer and without an error.
      outgoing.on("close", () => reject(new Error("the connection was closed without an answer")));
      outgoing.end(body);
    });
  } catch (error) {
    return { error: signal.aborted ? "timed out" : problemOf(error) };
  }
}

const problems: Readonly<Record<string, string>> = {
  EAI_AGAIN: "host not found",
  ECONNREFUSED: "connection refused",
  EHOSTUNREACH: "host not reachable",
  ENETUNREACH: "host not reachable",
  ENOTFOUND: "host not found",
  ETIMEDOUT: "timed out",
};

/** What went wrong, in words that tell the customer what to look at and nothing of us. */
function problemOf(error: unknown): string {
  if (error instanceof RefusedHost) return "the host is not a public address";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code.startsWith("HPE_")) return "not an HTTP response";
  if (/CERT|_TLS_|_SSL_|EPROTO/.test(code)) return "no secure connection: see to the certificate";
  return problems[code] ?? "connection broken";
}
