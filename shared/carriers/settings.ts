import * as z from "zod/mini";

import { Country } from "../api/contract/countries.ts";
import { DeliveryErrorCode } from "../api/contract/sms.ts";

/*
 * The settings of a carrier, by its kind. They have no secrets: Secrets Manager has these. Placeholders name them where
 * the kind does not define their place.
 */

/** The address of a carrier. It is the operator's own, so that it may be a private one, and without TLS. */
const CarrierUrl = z.string().check(
  z.maxLength(2_000),
  z.refine((value) => {
    const url = URL.parse(value.replaceAll(/\{[^{}]*\}/g, "x"));
    return url !== null && /^https?:$/.test(url.protocol);
  }, "must be an http or https URL"),
);

const Text = z.string().check(z.minLength(1), z.maxLength(256));

/** The most parts of a text that the carrier sends as one message: by default those of the longest text. */
const MaxParts = z.optional(z.int().check(z.gte(1), z.lte(255)));

/** The country of the numbers without a country code in carrier callbacks. */
const NumbersOf = z.optional(Country);

const Sandbox = z.strictObject({ kind: z.literal("sandbox"), maxParts: MaxParts });

const Aws = z.strictObject({
  kind: z.literal("aws"),
  configurationSetName: z.optional(Text),
  protectConfigurationId: z.optional(Text),
  /** The highest price of a segment that AWS may charge, in AWS's currency, such as "0.05". */
  maxPrice: z.optional(
    z.string().check(z.regex(/^\d{1,2}(\.\d{1,5})?$/, 'must be an amount in USD such as "0.05"')),
  ),
  /**
   * The pool, number or sender ID for messages to a country, by ISO 3166-1 code; `default` is for all other countries.
   * Without either it is the sender ID of the message.
   */
  originationIdentities: z._default(z.partialRecord(z.union([Country, z.enum(["default", "XK"])]), Text), {}),
  maxParts: MaxParts,
});

const Kannel = z.strictObject({
  kind: z.literal("kannel"),
  /** The address of its sendsms interface, such as http://10.0.0.5:13013/cgi-bin/sendsms. */
  url: CarrierUrl,
  /** The link for the messages, where Kannel has several. */
  smsc: z.optional(Text),
  country: NumbersOf,
  /** Its own setting `max-messages`, after which it cuts a text. */
  maxParts: MaxParts,
});

const Twilio = z.strictObject({
  kind: z.literal("twilio"),
  /** Other providers have the same interface at their own addresses. */
  url: z._default(CarrierUrl, "https://api.twilio.com"),
  /** The service that chooses the sender; without it messages come from their sender ID. */
  messagingServiceSid: z.optional(Text),
  maxParts: MaxParts,
});

/**
 * A rule for responses. The first rule that fits a response gives its meaning. If none fits, the outcome is unknown.
 */
const ResponseRule = z.strictObject({
  meaning: z.enum(["accepted", "invalid-destination", "opted-out", "rejected", "throttled", "unroutable"]),
  statuses: z.array(z.int().check(z.gte(200), z.lte(599))).check(z.minLength(1)),
  /** A path in the JSON of the response, such as `messages.0.status`. */
  path: z.optional(Text),
  /** The values that fit at the path; without them, any value. */
  values: z.optional(z.array(z.union([z.string(), z.number(), z.boolean()]))),
  /** A template of the whole text of the response: see `response-template.ts`. */
  text: z.optional(Text),
});

/** The fields of a delivery receipt: their paths in its JSON, form or query, and the meanings of their values. */
const Receipts = z.strictObject({
  statusPath: Text,
  /** The final values of the status. All other values are not final. */
  delivered: z.array(Text).check(z.minLength(1)),
  undelivered: z._default(z.array(Text), []),
  unknown: z._default(z.array(Text), []),
  /** The path of the {reference}, if the reference is not in the {callbackUrl}. */
  referencePath: z.optional(Text),
  /** The path of the reason why a message was not delivered, and the error codes for the values there. */
  errorPath: z.optional(Text),
  errors: z._default(z.record(z.string(), DeliveryErrorCode), {}),
});

/** The paths of the fields of an inbound message. */
const InboundMessages = z.strictObject({
  fromPath: Text,
  toPath: Text,
  textPath: Text,
  /** The carrier's own id, which identifies a repeated message. */
  idPath: z.optional(Text),
  country: NumbersOf,
});

const Http = z.strictObject({
  kind: z.literal("http"),
  /** The values of its placeholders are percent-encoded. */
  url: CarrierUrl,
  method: z._default(z.enum(["GET", "POST", "PUT"]), "POST"),
  headers: z._default(
    z.record(z.string().check(z.regex(/^[A-Za-z0-9-]+$/, "must be the name of a header")), Text),
    {},
  ),
  basicAuthentication: z.optional(z.strictObject({ userName: Text, password: Text })),
  /** The body, with placeholders in its texts; without it the request has no body. */
  body: z.optional(z.record(z.string(), z.json())),
  bodyFormat: z._default(z.enum(["form", "json"]), "json"),
  /** The values of {encoding}. */
  encodings: z.optional(z.strictObject({ "GSM-7": z.string(), "UCS-2": z.string() })),
  responses: z.array(ResponseRule).check(z.minLength(1)),
  /** The path of the carrier's own reference in the JSON of a response. */
  referencePath: z.optional(Text),
  /** The path of the carrier's own code for the reason of a rejection, in the JSON of a response. */
  codePath: z.optional(Text),
  /** Whether a message that is submitted twice with the same {reference} is sent once. */
  idempotent: z._default(z.boolean(), false),
  maxParts: MaxParts,
  receipts: z.optional(Receipts),
  inbound: z.optional(InboundMessages),
});

export const CarrierSettings = z.discriminatedUnion("kind", [Sandbox, Aws, Kannel, Twilio, Http]);
export type CarrierSettings = z.infer<typeof CarrierSettings>;
export type SettingsOf<Kind extends CarrierSettings["kind"]> = Extract<CarrierSettings, { kind: Kind }>;
