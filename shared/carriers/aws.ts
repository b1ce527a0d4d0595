import * as z from "zod/mini";

import type { DeliveryErrorCode } from "../api/contract/sms.ts";
import { inboundMessage, InboundText, type CallbackReceipt, type CallbackReader } from "./callback-reader.ts";
import { NoCredentials } from "./credentials.ts";
import type { CarrierCallbacks, CarrierCalls } from "./kind.ts";
import { providerCodeOf } from "./provider-code.ts";
import type { SettingsOf } from "./settings.ts";

/** AWS End User Messaging, with the role of the sender. */
export const awsCalls = {
  credentials: NoCredentials,
  submit: async ({ settings }, message) => {
    // A separate file of the bundle, so that only gateways with this carrier load it.
    const { sendWithAws } = await import("./aws-call.ts");
    return sendWithAws(settings, message);
  },
} satisfies CarrierCalls<SettingsOf<"aws">>;

/*
 * The notifications of AWS End User Messaging: delivery events of a configuration set, and inbound messages to its
 * numbers (two-way SMS). Both arrive over a topic in the queue of carrier callbacks, as JSON without an envelope.
 */

const DeliveryEvent = z.object({
  eventType: z.string(),
  isFinal: z.optional(z.boolean()),
  /** A message that the account sent without the gateway has no reference. */
  context: z.optional(z.object({ reference: z.optional(z.string().check(z.maxLength(200))) })),
});

const InboundMessage = z.object({
  originationNumber: z.string(),
  destinationNumber: z.string(),
  messageBody: InboundText,
  inboundMessageId: z.string().check(z.minLength(1), z.maxLength(200)),
});

const errorCodes: ReadonlyMap<string, DeliveryErrorCode> = new Map([
  ["TEXT_BLOCKED", "DELIVERY_REJECTED"],
  ["TEXT_CARRIER_BLOCKED", "DELIVERY_REJECTED"],
  ["TEXT_CARRIER_UNREACHABLE", "DELIVERY_UNREACHABLE"],
  ["TEXT_INVALID", "DELIVERY_INVALID_DESTINATION"],
  ["TEXT_INVALID_MESSAGE", "DELIVERY_REJECTED"],
  ["TEXT_PROTECT_BLOCKED", "DELIVERY_REJECTED"],
  ["TEXT_SPAM", "DELIVERY_REJECTED"],
  ["TEXT_TTL_EXPIRED", "DELIVERY_EXPIRED"],
  ["TEXT_UNREACHABLE", "DELIVERY_UNREACHABLE"],
]);

const onTheWay: ReadonlySet<string> = new Set([
  "TEXT_PENDING",
  "TEXT_QUEUED",
  "TEXT_SENT",
  "TEXT_SUCCESSFUL",
]);

const reader: CallbackReader = {
  receipt: (fields) => {
    const parsed = DeliveryEvent.safeParse(fields);
    if (!parsed.success) return undefined;
    const { eventType, isFinal, context } = parsed.data;
    return { ...meaningOf(eventType, isFinal === true), reference: context?.reference };
  },
  inbound: (fields) => {
    const parsed = InboundMessage.safeParse(fields);
    if (!parsed.success) return undefined;
    const { originationNumber: from, destinationNumber: to, messageBody: message } = parsed.data;
    return inboundMessage({ carrierId: parsed.data.inboundMessageId, from, to, message });
  },
};

export const awsCallbacks = {
  receiptsPerSegment: 0,
  account: "aws",
  reader: () => reader,
  warnings: ({ name, settings }) => ({
    receipts:
      settings.configurationSetName === undefined
        ? `AWS sends no receipts for ${name}: add configurationSetName to its settings.`
        : undefined,
  }),
} satisfies CarrierCallbacks<SettingsOf<"aws">>;

function meaningOf(eventType: string, isFinal: boolean): CallbackReceipt {
  if (eventType === "TEXT_DELIVERED") return { status: "delivered" };
  // For some networks acceptance is the last reported event.
  if (eventType === "TEXT_UNKNOWN" || (eventType === "TEXT_SUCCESSFUL" && isFinal))
    return { status: "unknown" };
  if (onTheWay.has(eventType)) return { status: "pending" };
  const errorCode = errorCodes.get(eventType) ?? "DELIVERY_FAILED";
  return { status: "undelivered", errorCode, providerCode: providerCodeOf(eventType) };
}
