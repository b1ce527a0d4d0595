import { SmsGatewayError } from "./errors.ts";

/** The call does not come from the gateway, was changed, or is too old. */
export class WebhookVerificationError extends SmsGatewayError {
  override readonly name = "WebhookVerificationError";
}

export interface WebhookCall {
  /** The raw body, before any parsing. */
  readonly payload: string | Uint8Array<ArrayBuffer>;
  /** The headers of the request, as `Headers` or as Node has them. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The signing secret of the webhook (`whsec_…`). During a rotation: both secrets. */
  readonly secret: string | readonly string[];
  /** The greatest difference between the time of the call and the clock of this server, 300 by default. */
  readonly toleranceSeconds?: number;
  /** Whether `X-Service-Signature` alone is sufficient. It signs no time, so anyone can repeat a recorded call later. */
  readonly allowUnsignedTime?: boolean;
  /** Returns the current time in milliseconds, `Date.now` by default. */
  readonly now?: () => number;
}

export interface SignedWebhook {
  readonly payload: string;
  readonly secret: string;
  /** The id of the event. */
  readonly id?: string;
  /** Returns the current time in milliseconds, `Date.now` by default. */
  readonly now?: () => number;
}

const defaultToleranceSeconds = 300;
const secretPrefix = "whsec_";

/**
 * Verifies that a webhook call comes from the gateway, and parses its body. The headers of Standard Webhooks decide, because
 * they also sign the time.
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(call: WebhookCall): Promise<unknown> {
  const { toleranceSeconds, now = Date.now } = call;
  const body = bodyOf(call.payload);
  const secrets = secretsOf(call.secret);
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(call, name),
  );
  if (id !== undefined && timestamp !== undefined && signatures !== undefined) {
    const ageSeconds = Math.abs(now() / 1_000 - Number(timestamp));
    const isRecent = ageSeconds <= (toleranceSeconds ?? defaultToleranceSeconds);
    if (!/^\d+$/.test(timestamp) || !isRecent) {
      throw new WebhookVerificationError("the time of the webhook call is not within the tolerance");
    }
    const given = signatures.split(" ").flatMap((each) => (each.startsWith("v1,") ? each.slice(3) : []));
    const signed = concat(bytesOf(`${id}.${timestamp}.`), body);
    await requireSignature(secrets.map(decodedKey), signed, given.map(bytesOfBase64));
  } else {
    const signature = headerOf(call, "x-service-signature");
    if (signature === undefined) throw new WebhookVerificationError("the webhook call has no signature");
    if (call.allowUnsignedTime !== true) {
      throw new WebhookVerificationError("the webhook call has no signed time");
    }
    await requireSignature(secrets.map(bytesOf), body, [bytesOfHex(signature)]);
  }
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new WebhookVerificationError("the body of the webhook call is not JSON");
  }
}

/** Returns the headers of a webhook call as the gateway signs it, for tests of a receiver. */
export async function signWebhook({
  payload,
  secret,
  id = "evt_test",
  now = Date.now,
}: SignedWebhook): Promise<Record<string, string>> {
  const body = bytesOf(payload);
  const timestamp = String(Math.floor(now() / 1_000));
  const sign = async (key: Bytes, data: Bytes): Promise<Bytes> =>
    new Uint8Array(await crypto.subtle.sign("HMAC", await hmacKey(key), data));
  const standard = await sign(decodedKey(secret), concat(bytesOf(`${id}.${timestamp}.`), body));
  const service = await sign(bytesOf(secret), body);
  return {
    "Content-Type": "application/json",
    "X-Service-Event": JSON.parse(new TextDecoder().decode(body)).event,
    "X-Service-Signature": Array.from(service, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${btoa(String.fromCodePoint(...standard))}`,
  };
}

type Bytes = Uint8Array<ArrayBuffer>;

async function hmacKey(key: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

async function requireSignature(
  keys: readonly Bytes[],
  signed: Bytes,
  given: readonly Bytes[],
): Promise<void> {
  for (const key of keys) {
    if (key.length === 0)
      throw new WebhookVerificationError("the secret of the webhook is empty or malformed");
    const hmac = await hmacKey(key);
    for (const signature of given) {
      // It compares in constant time.
      if (await crypto.subtle.verify("HMAC", hmac, signature, signed)) return;
    }
  }
  throw new WebhookVerificationError("the signature of the webhook call is not valid");
}

/** Returns a header. A value of another type is no header, because JavaScript calls this without types too. */
function headerOf({ headers }: WebhookCall, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name) ?? [];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.length > 0 && values.every((each) => typeof each === "string") ? values.join(" ") : undefined;
}

function bodyOf(payload: unknown): Bytes {
  if (typeof payload === "string") return bytesOf(payload);
  // A Buffer of another realm, such as that of a test runner, is no instance of this one's class.
  if (!ArrayBuffer.isView(payload))
    throw new WebhookVerificationError("payload must be the raw body, before any parsing");
  return new Uint8Array(new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength));
}

/** Returns the secrets without white space around them, which files and variables often have. */
function secretsOf(secret: unknown): string[] {
  const secrets: unknown[] = Array.isArray(secret) ? [...secret] : [secret];
  return secrets.map((each) => (typeof each === "string" ? each.trim() : ""));
}

function decodedKey(secret: string): Bytes {
  return bytesOfBase64(secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret);
}

function bytesOf(data: string | Bytes): Bytes {
  return typeof data === "string" ? new TextEncoder().encode(data) : data;
}

/** Text that is not Base64 has no bytes, so that it is never a valid signature. */
function bytesOfBase64(text: string): Bytes {
  try {
    return Uint8Array.from(atob(text), (character) => character.codePointAt(0) ?? 0);
  } catch {
    return new Uint8Array();
  }
}

function bytesOfHex(text: string): Bytes {
  const pairs = /^([0-9a-f]{2})+$/i.test(text) ? (text.match(/../g) ?? []) : [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

function concat(one: Bytes, other: Bytes): Bytes {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
