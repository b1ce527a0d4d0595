import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { messageDetails, storedDetails } from "./message-details.ts";
import { GivenPhoneNumber, PhoneNumberInQuery } from "./phone-numbers.ts";
import { typedCode } from "./plain-text.ts";
import { idSchema, integerParameter, PageQuery, text, Timestamp } from "./primitives.ts";
import { SenderId } from "./senders.ts";
import { VerificationPricing } from "./verification-pricing.ts";

const Code = z
  .string()
  .check(z.regex(/^(\d{4,10}|[A-Z2-9]{4,10})$/, "must be 4 to 10 digits, or A-Z and 2-9"));

const VerificationChannel = about(
  namedEnum("VerificationChannel", ["sms"]),
  "How the code reaches the person.",
);

/** The name of a verification profile. */
export const ProfileName = z
  .string()
  .check(z.regex(/^[a-z0-9][a-z0-9-]{0,29}$/, "must be 1 to 30 of a-z, 0-9 and -, and not begin with -"))
  .register(z.globalRegistry, { description: "The name of a verification profile.", examples: ["shop"] });

/** A language tag of BCP 47, such as `pt-BR`. */
export const Locale = z
  .string()
  .check(
    z.maxLength(35, { abort: true }),
    z.regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/, "must be a language tag such as en or pt-BR"),
  );

export const AppHash = z
  .string()
  .check(
    z.regex(/^[A-Za-z0-9+/]{11}$/, "must be the 11 characters that identify an Android app"),
    z.meta({ description: "The hash of your Android app, which then reads the code itself." }),
  );

export const Domain = z
  .string()
  .check(
    z.maxLength(100, { abort: true }),
    z.regex(
      /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/,
      "must be a host name in small letters, such as shop.example.com",
    ),
    z.meta({ description: "The host name of your page. Browsers fill the code in on this page only." }),
  );

export const StartVerificationRequest = withExample(
  namedStrictObject("StartVerificationRequest", {
    to: GivenPhoneNumber,
    profile: z._default(ProfileName, "default"),
    channel: z._default(VerificationChannel, "sms"),
    locale: about(z.optional(Locale), "The language of the text, such as `de-AT` (BCP 47)."),
    code: about(
      z.optional(Code),
      "Your own code: 4 to 10 digits, or A-Z and 2-9. It is checked by `id` only. Without it the gateway makes one. " +
        "Another code on a repeat replaces the one before.",
    ),
    senderId: z.optional(SenderId),
    ip: about(
      z.optional(z.union([z.ipv4(), z.ipv6()], "must be an IPv4 or IPv6 address")),
      "The address of the person who requested the code. It is the best protection against fraud.",
    ),
    deviceId: about(z.optional(text(64).check(z.minLength(1))), "Your own name of the person's device."),
    metadata: messageDetails.metadata,
    appHash: z.optional(AppHash),
    domain: z.optional(Domain),
  }),
  { to: "15005550007", senderId: "ADASHOP", ip: "203.0.113.7" },
);
export type StartVerificationRequest = z.infer<typeof StartVerificationRequest>;

export const VerificationStatus = about(
  namedEnum("VerificationStatus", ["pending", "approved", "failed", "expired", "cancelled", "blocked"]),
  "`failed` after too many checks, or because you reported it. `blocked` was never sent: the guard rejected it. All " +
    "except `pending` are final.",
);
export type VerificationStatus = z.infer<typeof VerificationStatus>;

export const Verification = namedObject("Verification", {
  id: idSchema("ver"),
  status: VerificationStatus,
  to: about(z.string(), "The number; `[removed]` once it was erased."),
  profile: z.string(),
  channel: VerificationChannel,
  locale: about(z.optional(z.string()), "The language of the text."),
  test: about(z.optional(z.literal(true)), "Present for the verification of a test key."),
  createdAt: Timestamp,
  expiresAt: about(Timestamp.clone(), "When the code expires."),
  endedAt: about(z.optional(Timestamp), "When it was approved, failed or was cancelled."),
  sends: about(z.int(), "How often the code was sent, at most five times."),
  nextSendAt: about(
    z.optional(Timestamp),
    "When the code can be sent again at the earliest; absent after the last time.",
  ),
  checksLeft: about(
    z.int(),
    "How often the code can be checked: at first five times, or three with fewer than six characters.",
  ),
  guardRule: about(
    z.optional(z.string()),
    "The rule of the guard that blocked it, or would have blocked it if the profile did not only monitor.",
  ),
  pricing: VerificationPricing,
  metadata: storedDetails.metadata,
  messageIds: about(
    z.array(idSchema("msg")),
    "Its messages. Their texts have `{code}` in place of the code.",
  ),
});
export type Verification = z.infer<typeof Verification>;

export const VerificationParams = z.object({ id: idSchema("ver") });

export const CheckVerificationRequest = z
  .strictObject({
    id: z.optional(idSchema("ver")),
    to: z.optional(GivenPhoneNumber),
    profile: z._default(ProfileName, "default"),
    code: z
      .string()
      .check(z.minLength(1), z.maxLength(20, { abort: true }))
      .check(z.refine((code) => typedCode(code) !== "", "must have a digit or a letter")),
  })
  .check(
    z.refine(({ id, to }) => (id === undefined) !== (to === undefined), {
      path: ["id"],
      error: "give either `id`, or `to` for the pending code that the gateway made for a number",
    }),
  )
  .register(z.globalRegistry, {
    id: "CheckVerificationRequest",
    examples: [{ to: "15005550007", code: "123456" }],
  });
export type CheckVerificationRequest = z.infer<typeof CheckVerificationRequest>;

export const VerificationCheck = namedObject("VerificationCheck", {
  id: idSchema("ver"),
  status: namedEnum("VerificationCheckStatus", ["approved", "pending"]),
  valid: about(z.boolean(), "Whether the code was correct."),
  checksLeft: z.int(),
});
export type VerificationCheck = z.infer<typeof VerificationCheck>;

export const ResendVerificationRequest = z.prefault(
  withExample(
    namedStrictObject("ResendVerificationRequest", { channel: z._default(VerificationChannel, "sms") }),
    { channel: "sms" },
  ),
  {},
);

export const VerificationOutcome = withExample(
  namedStrictObject("VerificationOutcome", {
    outcome: namedEnum("ReportedVerificationOutcome", ["approved", "failed"]),
  }),
  { outcome: "approved" },
);
export type VerificationOutcome = z.infer<typeof VerificationOutcome>;

export const VerificationsQuery = z.safeExtend(PageQuery, {
  status: about(z.optional(VerificationStatus), "Only verifications in this state."),
  to: about(z.optional(PhoneNumberInQuery), "Only verifications of this number."),
});
export type VerificationsQuery = z.infer<typeof VerificationsQuery>;

export const ConversionQuery = z.strictObject({
  days: about(z._default(integerParameter(1, 7), 7), "The number of past days, up to 7."),
});

const CountryConversion = about(
  namedObject("CountryConversion", {
    country: about(
      z.string(),
      "The ISO 3166-1 code, `XK` for Kosovo, `none` for a number without a country.",
    ),
    started: z.int(),
    approved: z.int(),
    undelivered: about(
      z.int(),
      "Those whose message was not sent or not delivered: a bad route is no fraud.",
    ),
  }),
  "The verifications of a country by the time of their start.",
);

export const VerificationConversion = namedObject("VerificationConversion", {
  countries: z.array(CountryConversion),
});
export type VerificationConversion = z.infer<typeof VerificationConversion>;
