import { maxValiditySeconds, type MessageErrorCode } from "../api/contract/sms.ts";
import { callCarrier, NoOutcomeError, valueAt, type CallOptions, type CarrierResponse } from "./call.ts";
import type { AddressedMessage, SubmitResult } from "./carrier.ts";
import type { CredentialsOf } from "./credentials.ts";
import { filled, filledJson, type Values } from "./placeholders.ts";
import { providerCodeOf } from "./provider-code.ts";
import type { SettingsOf } from "./settings.ts";

/*
 * Any carrier with an HTTP interface. Its settings define the requests and the meanings of the responses.
 */

/** Submits a message to a carrier. @throws Error when it is not known whether the carrier accepted it */
export async function sendWithHttp(
  settings: SettingsOf<"http">,
  credentials: CredentialsOf<"http">,
  message: AddressedMessage,
  options?: CallOptions,
): Promise<SubmitResult> {
  const values: Values = new Map([
    ...Object.entries(credentials).map(([name, value]) => [`secret.${name}`, value] as const),
    ["to", message.to],
    ["from", message.from],
    ["text", message.text],
    ["reference", message.reference],
    ["encoding", settings.encodings?.[message.encoding] ?? message.encoding],
    ["callbackUrl", message.callbackUrl ?? ""],
    ["validitySeconds", String(message.validitySeconds ?? maxValiditySeconds)],
  ]);
  const body = bodyOf(settings, values);
  const response = await callCarrier(
    {
      url: new URL(filled(settings.url, values, encodeURIComponent)),
      method: settings.method,
      headers: { ...body?.headers, ...headersOf(settings, values) },
      body: body?.text,
    },
    options,
  );
  return submitResultOf(settings, response);
}

function headersOf(settings: SettingsOf<"http">, values: Values): Record<string, string> {
  const { headers, basicAuthentication } = settings;
  const given = Object.fromEntries(
    Object.entries(headers).map(([name, template]) => [name, filled(template, values)]),
  );
  if (basicAuthentication === undefined) return given;
  const { userName, password } = basicAuthentication;
  const pair = `${filled(userName, values)}:${filled(password, values)}`;
  return { ...given, Authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

function bodyOf(
  { body, bodyFormat }: SettingsOf<"http">,
  values: Values,
): { readonly text: string; readonly headers: Record<string, string> } | undefined {
  if (body === undefined) return undefined;
  if (bodyFormat === "json") {
    return {
      text: JSON.stringify(filledJson(body, values)),
      headers: { "Content-Type": "application/json" },
    };
  }
  const fields = Object.entries(body).map(([name, value]): [string, string] => [
    name,
    filled(typeof value === "string" ? value : JSON.stringify(value), values),
  ]);
  return {
    text: new URLSearchParams(fields).toString(),
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  };
}

const errorCodes = {
  "invalid-destination": "MESSAGE_INVALID_DESTINATION",
  "opted-out": "MESSAGE_RECIPIENT_OPTED_OUT",
  rejected: "MESSAGE_PROVIDER_ERROR",
  unroutable: "MESSAGE_UNROUTABLE",
} as const satisfies Record<string, MessageErrorCode>;

/** The statuses for rejected credentials and for a missing address. */
const turnedAwayStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405, 407]);

function submitResultOf(settings: SettingsOf<"http">, response: CarrierResponse): SubmitResult {
  const { status, text, retryAfterSeconds } = response;
  const given = settings.codePath === undefined ? undefined : valueAt(text, settings.codePath);
  const providerCode = providerCodeOf(given) ?? `HTTP${status}`;
  const rule = settings.responses.find((each) => fits(each, response));
  if (rule === undefined) {
    if (turnedAwayStatuses.has(status)) {
      return { outcome: "unreachable", reason: `TurnedAway${status}`, providerCode };
    }
    if (status === 429) return { outcome: "throttled", retryAfterSeconds, providerCode };
    throw new NoOutcomeError(status);
  }
  switch (rule.meaning) {
    case "accepted":
      return { outcome: "accepted", carrierReference: referenceIn(text, settings.referencePath) };
    case "throttled":
      return { outcome: "throttled", retryAfterSeconds, providerCode };
    case "invalid-destination":
    case "opted-out":
    case "rejected":
    case "unroutable":
      return { outcome: "rejected", errorCode: errorCodes[rule.meaning], providerCode };
  }
}

function fits(
  { statuses, path, values }: SettingsOf<"http">["responses"][number],
  { status, text }: CarrierResponse,
): boolean {
  if (!statuses.includes(status)) return false;
  if (path === undefined) return true;
  const value = valueAt(text, path);
  if (value === undefined) return false;
  return values === undefined || values.some((each) => each === value);
}

/** The reference is stored with the message, so its length is limited. */
const maxReferenceLength = 256;

function referenceIn(text: string, path: string | undefined): string | undefined {
  const value = path === undefined ? undefined : valueAt(text, path);
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  return String(value).slice(0, maxReferenceLength);
}
