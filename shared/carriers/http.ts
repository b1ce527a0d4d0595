import * as z from "zod/mini";

import { maxValiditySeconds, type MessageErrorCode } from "../api/contract/sms.ts";
import { callCarrier, outcomeOfStatus, type CallOptions, type CarrierResponse } from "./call.ts";
import {
  inboundMessage,
  InboundText,
  numbersOf,
  type CallbackReader,
  type Fields,
  type NumberOfCountry,
} from "./callback-reader.ts";
import type { AddressedMessage, SubmitResult } from "./carrier.ts";
import { SecretText } from "./credentials.ts";
import { checkHttpSettings, httpWarnings } from "./http-settings.ts";
import type { CalledCarrier, CarrierCallbacks, CarrierCalls } from "./kind.ts";
import { filled, filledJson, type Values } from "./placeholders.ts";
import { providerCodeOf } from "./provider-code.ts";
import { valuesInText } from "./response-template.ts";
import type { SettingsOf } from "./settings.ts";
import { valueAt, valueIn } from "./value-at.ts";

/*
 * Any carrier with an HTTP interface. Its settings define the requests and the meanings of the responses.
 */

const Credentials = z.record(z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/)), SecretText);
type Credentials = z.infer<typeof Credentials>;

export const httpCalls = {
  credentials: Credentials,
  check: checkHttpSettings,
  isIdempotent: ({ idempotent }) => idempotent,
  submit,
} satisfies CarrierCalls<SettingsOf<"http">>;

async function submit(
  { settings, credentials }: CalledCarrier<SettingsOf<"http">, Credentials>,
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

function submitResultOf(settings: SettingsOf<"http">, response: CarrierResponse): SubmitResult {
  const { text, retryAfterSeconds } = response;
  const { rule, values } = firstFit(settings.responses, response) ?? {};
  const code = values?.get("code") ?? at(text, settings.codePath);
  const providerCode = providerCodeOf(code) ?? `HTTP${response.status}`;
  if (rule === undefined) return outcomeOfStatus(response, providerCode);
  switch (rule.meaning) {
    case "accepted":
      return {
        outcome: "accepted",
        carrierReference: referenceOf(values?.get("reference") ?? at(text, settings.referencePath)),
      };
    case "throttled":
      return { outcome: "throttled", retryAfterSeconds, providerCode };
    case "invalid-destination":
    case "opted-out":
    case "rejected":
    case "unroutable":
      return { outcome: "rejected", errorCode: errorCodes[rule.meaning], providerCode };
  }
}

/** Returns the first rule that a response fits, with the values of its template. */
function firstFit(
  rules: SettingsOf<"http">["responses"],
  response: CarrierResponse,
): { rule: (typeof rules)[number]; values: ReadonlyMap<string, string> } | undefined {
  for (const rule of rules) {
    const values = valuesFor(rule, response);
    if (values !== undefined) return { rule, values };
  }
  return undefined;
}

/** Returns what a rule reads from a response that it fits; undefined if it does not fit. */
function valuesFor(
  { statuses, path, values, text: template }: SettingsOf<"http">["responses"][number],
  { status, text }: CarrierResponse,
): ReadonlyMap<string, string> | undefined {
  if (!statuses.includes(status)) return undefined;
  if (path !== undefined) {
    const value = valueAt(text, path);
    // Many servers write an empty field as null.
    if (value === undefined || value === null) return undefined;
    // Carriers write the same code as a number and as a text.
    if (values?.some((each) => String(each) === scalarOf(value)) === false) return undefined;
  }
  return template === undefined ? new Map() : valuesInText(template, text);
}

function at(text: string, path: string | undefined): unknown {
  return path === undefined ? undefined : valueAt(text, path);
}

/** The reference is stored with the message, so its length is limited. */
const maxReferenceLength = 256;

function referenceOf(value: unknown): string | undefined {
  return scalarOf(value)?.slice(0, maxReferenceLength);
}

function scalarOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

export const httpCallbacks = {
  receiptsPerSegment: 2,
  reader: async (settings) => readerWith(settings, await numbersOf(settings.inbound?.country)),
  warnings: httpWarnings,
} satisfies CarrierCallbacks<SettingsOf<"http">>;

function readerWith({ receipts, inbound }: SettingsOf<"http">, read?: NumberOfCountry): CallbackReader {
  return {
    receipt: (fields) => {
      if (receipts === undefined) return undefined;
      const said = textAt(fields, receipts.statusPath);
      if (said === undefined) return undefined;
      const reference = receipts.referencePath && textAt(fields, receipts.referencePath);
      const status = (["delivered", "undelivered", "unknown"] as const).find((word) =>
        receipts[word].includes(said),
      );
      const error = (receipts.errorPath && textAt(fields, receipts.errorPath)) ?? "";
      const errorCode = Object.hasOwn(receipts.errors, error) ? receipts.errors[error] : undefined;
      if (status === "undelivered") {
        const providerCode = providerCodeOf(error);
        return { reference, status, errorCode: errorCode ?? "DELIVERY_FAILED", providerCode };
      }
      return { reference, status: status ?? "pending" };
    },
    inbound: (fields) => {
      if (inbound === undefined) return undefined;
      const message = InboundText.safeParse(textAt(fields, inbound.textPath));
      const carrierId = inbound.idPath && textAt(fields, inbound.idPath);
      if (!message.success) return undefined;
      const [from, to] = [textAt(fields, inbound.fromPath), textAt(fields, inbound.toPath)];
      return inboundMessage({ carrierId, from, to, message: message.data }, read);
    },
  };
}

/** Returns the text, or the number as a text, at a path such as `message.0.status`; undefined where there is none. */
function textAt(fields: Fields, path: string): string | undefined {
  const value = valueIn(fields, path);
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
