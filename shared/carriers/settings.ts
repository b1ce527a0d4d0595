import * as z from "zod/mini";

import { Country } from "../contract/countries.ts";
import { DeliveryErrorCode } from "../contract/sms.ts";

/*
 * What an operator says of a carrier, by its kind. None of it is secret: what is, is in Secrets Manager, and is named here
 * by placeholders where the kind does not say by itself where it belongs.
 */

/** The address of a carrier. It is the operator's own, so that it may be a private one, and without TLS. */
const CarrierUrl = z.string().check(
  z.maxLength(2_000),
  z.refine((value) => {
    const url = URL.parse(value.replaceAll(/\{[^{}]*\}/g, "x"));
    return url !== null && /^https?:$/.test(url.protocol);
  }, "must be an http or https URL"),
  z.refine(
    (value) => !/^[^/]*\/\/[^/?#]*@/.test(value),
    "must not carry a user name or a password: they belong into the secret",
  ),
);

const Text = z.string().check(z.minLength(1), z.maxLength(256));

const Sandbox = z.strictObject({ kind: z.literal("sandbox") });

const Aws = z.strictObject({
  kind: z.literal("aws"),
  configurationSetName: z.optional(Text),
  protectConfigurationId: z.optional(Text),
  /** The most that a part of a message may cost, in USD, such as "0.05". */
  maxPrice: z.optional(
    z.string().check(z.regex(/^\d{1,2}(\.\d{1,5})?$/, 'must be an amount in USD such as "0.05"')),
  ),
  /**
   * The pool, number or sender ID that messages to a country come from, by ISO 3166-1 code, and `default` for all others.
   * Where nothing is said it is the sender ID of the message.
   */
  originationIdentities: z._default(z.partialRecord(z.union([Country, z.enum(["default", "XK"])]), Text), {}),
});

const Kannel = z.strictObject({
  kind: z.literal("kannel"),
  /** Of its sendsms interface, such as http://10.0.0.5:13013/cgi-bin/sendsms. */
  url: CarrierUrl,
  /** The link that takes the messages, where Kannel has several. */
  smsc: z.optional(Text),
});

const Twilio = z.strictObject({
  kind: z.literal("twilio"),
  /** Others speak its interface, at addresses of their own. */
  url: z._default(CarrierUrl, "https://api.twilio.com"),
  /** What picks the sender; without it messages come from their sender ID. */
  messagingServiceSid: z.optional(Text),
});

/** How an answer is understood: by the first rule that fits it. What fits none says nothing about the message. */
const AnswerRule = z.strictObject({
  meaning: z.enum(["accepted", "invalid-destination", "later", "opted-out", "refused", "unroutable"]),
  statuses: z.array(z.int().check(z.gte(200), z.lte(599))).check(z.minLength(1)),
  /** Where in the JSON of the answer to look, such as `messages.0.status`. */
  path: z.optional(Text),
  /** What has to stand there; without it, anything. */
  values: z.optional(z.array(z.union([z.string(), z.number(), z.boolean()]))),
});

/** How what a carrier reports of a message is understood: where to look in its JSON, form or address, and what is said. */
const Receipts = z.strictObject({
  statusPath: Text,
  /** What stands there at the end. Whatever else does is not the end. */
  delivered: z.array(Text).check(z.minLength(1)),
  undelivered: z._default(z.array(Text), []),
  unknown: z._default(z.array(Text), []),
  /** Where the {reference} is, if it is not in the {callbackUrl} that the carrier was given. */
  referencePath: z.optional(Text),
  /** Where it says why the phone did not get the message, and which of our codes stands for what is said. */
  errorPath: z.optional(Text),
  errors: z._default(z.record(z.string(), DeliveryErrorCode), {}),
});

/** Where the parts of a message from a phone are. */
const Replies = z.strictObject({
  fromPath: Text,
  toPath: Text,
  textPath: Text,
  /** The carrier's own id, by which it is recognized when it comes again. */
  idPath: z.optional(Text),
});

const Http = z.strictObject({
  kind: z.literal("http"),
  /** Placeholders in it are percent-encoded. */
  url: CarrierUrl,
  method: z._default(z.enum(["GET", "POST", "PUT"]), "POST"),
  headers: z._default(
    z.record(z.string().check(z.regex(/^[A-Za-z0-9-]+$/, "must be the name of a header")), Text),
    {},
  ),
  basicAuthentication: z.optional(z.strictObject({ userName: Text, password: Text })),
  /** What is sent, with placeholders in its texts; without it nothing is. */
  body: z.optional(z.record(z.string(), z.json())),
  bodyFormat: z._default(z.enum(["form", "json"]), "json"),
  /** What stands for {encoding}. */
  encodings: z.optional(z.strictObject({ "GSM-7": z.string(), "UCS-2": z.string() })),
  answers: z.array(AnswerRule).check(z.minLength(1)),
  /** Where in the JSON of the answer the carrier's own reference is. */
  referencePath: z.optional(Text),
  /** Where in the JSON of an answer the carrier's own code is, by which it says why it did not take a message. */
  codePath: z.optional(Text),
  /** Whether a message that is handed over twice with the same {reference} is sent once. */
  recognisesRepeats: z._default(z.boolean(), false),
  receipts: z.optional(Receipts),
  replies: z.optional(Replies),
});

export const CarrierSettings = z.discriminatedUnion("kind", [Sandbox, Aws, Kannel, Twilio, Http]);
export type CarrierSettings = z.infer<typeof CarrierSettings>;
export type SettingsOf<Kind extends CarrierSettings["kind"]> = Extract<CarrierSettings, { kind: Kind }>;
