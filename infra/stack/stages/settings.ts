import * as z from "zod/mini";

import { Brand } from "../../../shared/api/contract/brand.ts";
import { Country } from "../../../shared/api/contract/countries.ts";
import { currencies, defaultCurrency } from "../../../shared/api/contract/currencies.ts";
import { EmailAddress } from "../../../shared/api/contract/email-addresses.ts";
import { PaymentSettings } from "../../../shared/api/contract/payment-settings.ts";
import { numberTypes } from "../../../shared/api/contract/phone-numbers.ts";
import { ExpiresInSeconds } from "../../../shared/api/contract/sms.ts";
import { GuardFigures } from "../../../shared/api/contract/verification-guard.ts";
import { routes, type Operation } from "../../../shared/api/routes.ts";
import { queueNames } from "../../../shared/platform/queue-names.ts";
import { workers } from "../workers.ts";

/** The retention periods that CloudWatch offers. */
const logRetentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827, 2_192, 2_557, 2_922, 3_288,
  3_653,
] as const;

const Throttle = z.strictObject({
  /** Requests a second over all customers. */
  rateLimit: z.int().check(z.gte(1), z.lte(10_000)),
  /** The most requests in a short burst. */
  burstLimit: z.int().check(z.gte(1), z.lte(5_000)),
});

// The keys of the table are its operations, but the compiler types `Object.keys` as strings.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const operationNames = Object.keys(routes) as Operation[];
const FunctionName = z.enum([...operationNames, ...Object.keys(workers)]);

const matching = (pattern: RegExp, rule: string): z.ZodMiniString<string> =>
  z.string().check(z.regex(pattern, rule));
/** @param resource the service, and the beginning of the resource */
const arn = (service: string, resource: string): z.ZodMiniString<string> =>
  matching(
    new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:${resource}[\\w/+=.@-]+$`),
    `must be an ARN such as arn:aws:${service}:eu-west-1:123456789012:${resource}…`,
  );
const AdoptedSecretArn = arn("secretsmanager", "secret:").check(
  z.regex(/-\w{6}$/, "must be a whole ARN, with the six characters at the end"),
);

/** The form in which browsers send the origin of an address (RFC 6454, 6.2); undefined for another text. */
const originOf = (typed: unknown): string | undefined =>
  /^https?:\/\/[^*\s]+$/i.test(String(typed)) ? URL.parse(String(typed))?.origin : undefined;
const Origin = z.string().check(
  z.refine((typed) => typed === "*" || typed === originOf(typed), {
    error: ({ input }) => `must be ${originOf(input) ?? "* or an origin such as https://example.com"}`,
  }),
);

const TagText = matching(
  /^(?!aws:)[\p{L}\p{N}\p{Z}_.:/=+@-]*$/iu,
  "must have only letters, digits, spaces and _.:/=+-@, and not begin with aws:",
);

/** The region of CloudFront's certificates and firewalls, which is the same for all stages. */
export const cloudFrontRegion = "us-east-1";

/** The limit of a rule, in the range that AWS WAF accepts. */
const RequestsPerAddress = z.int().check(z.gte(10), z.lte(2_000_000_000));

/** A stage's rules in addition to those of the contract. A stage has to state those without a default. */
const Policies = z.strictObject({
  senderIds: z.enum(["any", "approved"]),
  kyc: z.enum(["none", "before-sending"]),
  verifiedEmail: z.enum(["none", "before-sending"]),
  /** Kosovo has a country code, and no code of ISO 3166-1. */
  countries: z.union([z.literal("any"), z.array(z.union([Country, z.literal("XK")])).check(z.minLength(1))], {
    error: 'must be "any" or a list of ISO 3166-1 codes in capital letters, such as ["GB"]',
  }),
  /** The types of numbers that messages may go to. An unassigned range has none. */
  numberTypes: z._default(
    z.union([z.literal("any"), z.array(z.enum(numberTypes)).check(z.minLength(1))], {
      error: `must be "any" or a list of some of ${numberTypes.join(", ")}`,
    }),
    ["mobile"],
  ),
  /** Whether a sender with letters may send to countries whose networks accept none. */
  senderCountries: z._default(z.enum(["any", "allowed"]), "any"),
  /** The rule for new passwords, in addition to their length. */
  passwords: z._default(z.enum(["any", "uncommon"]), "uncommon"),
  redactOneTimeCodes: z._default(z.boolean(), false),
  /** Whether an API key that was made without scopes may manage keys. */
  apiKeysManageKeys: z._default(z.boolean(), false),
  /** Whether changes of members, API keys, webhooks, billing and saved cards need a recently reauthenticated session. */
  reauthentication: z._default(z.enum(["none", "before-changes"]), "before-changes"),
});

/** The sender of emails. */
const SentEmails = z.strictObject({
  from: EmailAddress,
  /** The sender name, by default the name of the brand. */
  name: z.optional(matching(/^[\w .,&'()-]{1,60}$/, "must be up to 60 letters, digits and spaces of ASCII")),
  /** The address's identity in SES, by default its domain. */
  identity: z.optional(matching(/^([^@\s/:]+@)?[\w.-]+$/, "must be a domain, or an address")),
  /** An existing configuration set of SES, which sends the emails and reports bounces and complaints. */
  configurationSet: z.optional(
    matching(/^[\w-]{1,64}$/, "must be the name of a configuration set, up to 64 letters, digits, _ and -"),
  ),
});

const ImageFile = (ending: string): z.ZodMiniString<string> =>
  matching(
    new RegExp(`^[\\w-]{1,60}\\.${ending}$`),
    `must be the name of a file beside this one, such as logo.${ending}`,
  );

/** The settings of a stage, as its file has them. The README in this folder describes each. */
export const StageSettings = z.strictObject({
  account: z.optional(matching(/^\d{12}$/, "must be the twelve digits of an AWS account")),
  region: z.optional(matching(/^[a-z]{2}(-[a-z]+)+-\d$/, "must be a region such as eu-west-1")),
  carrier: z.enum(["aws", "sandbox"]),
  brand: z.prefault(
    z.extend(Brand, {
      /** Shown in place of the name. */
      logo: z.optional(ImageFile("svg")),
      /** By default the first letter of the name. */
      icon: z.optional(ImageFile("svg")),
      /** Shown where people share a link, 1200 by 630 pixels. */
      socialCard: z.optional(ImageFile("png")),
    }),
    {},
  ),
  /** The currency of all amounts, except for those that AWS charges. */
  currency: z._default(z.enum(currencies()), defaultCurrency),
  prices: z._default(z.enum(["imported", "sample"]), "imported"),
  /** The share of a price that must remain after the carrier's cost. */
  minimumMargin: z._default(
    z
      .number()
      .check(
        z.refine(
          (share) => share >= 0 && share < 1,
          "must be a share of the price from 0 to below 1, such as 0.2",
        ),
      ),
    0,
  ),
  /** How many days before a price rises its customers get a notice; absent is none. */
  priceNoticeDays: z.optional(z.int().check(z.gte(1), z.lte(90))),
  /** The largest movement of money that one operator may make alone. */
  secondPersonAbove: z.optional(
    matching(/^(?=.*[1-9])\d{1,7}(\.\d{1,6})?$/, 'must be an amount such as "500.00"'),
  ),
  failoverAtLoss: z._default(z.boolean(), false),
  keepData: z.boolean(),
  policies: Policies,
  topUpEnabled: z._default(z.boolean(), false),
  webhookTargets: z._default(z.enum(["any", "public"]), "public"),
  docsEnabled: z._default(z.boolean(), true),
  corsOrigins: z._default(z.array(Origin), []),
  throttle: z.prefault(
    z.extend(Throttle, {
      /** The separate limit of each route without a credential: its traffic cannot exhaust the shared one. */
      anonymous: z._default(Throttle, { rateLimit: 50, burstLimit: 100 }),
      /** The limit of each route for carrier callbacks: a receipt for each message, and a burst after an outage. */
      carriers: z._default(Throttle, { rateLimit: 500, burstLimit: 1_000 }),
      /** The limit of the route for the events of payment providers, which send several for each payment. */
      paymentEvents: z._default(Throttle, { rateLimit: 200, burstLimit: 400 }),
      /** The limit of paths without a route. Under `/v1` the firewall counts them like requests with a credential. */
      unknownPaths: z._default(Throttle, { rateLimit: 500, burstLimit: 1_000 }),
      operations: z._default(z.partialRecord(z.enum(operationNames), Throttle), {}),
    }),
    { rateLimit: 1_000, burstLimit: 1_000 },
  ),
  limits: z.prefault(
    z.strictObject({
      /** The first two limits apply to organizations for which the operator has set no others. */
      dailySpendCap: z.optional(
        matching(/^(?=.*[1-9])\d{1,7}(\.\d{1,6})?$/, 'must be an amount such as "50.00"'),
      ),
      sendsPerSecond: z.optional(z.int().check(z.gte(1), z.lte(10_000))),
      /** The most messages of one organization to one number. */
      oneTimeCodesPerNumberPer10Minutes: z.optional(z.int().check(z.gte(1), z.lte(100))),
      transactionalMessagesPerNumberPer10Minutes: z.optional(z.int().check(z.gte(1), z.lte(100))),
      marketingMessagesPerNumberPerDay: z.optional(z.int().check(z.gte(1), z.lte(100))),
      /** The validity of a message of type `otp` without `expiresInSeconds`. */
      oneTimeCodeValiditySeconds: z._default(ExpiresInSeconds, 600),
      webhooksBeforePayment: z.optional(z.int().check(z.gte(0), z.lte(100))),
      /** All IPv6 addresses of a /64 count as one. */
      registrationsPerAddressPerHour: z.optional(z.int().check(z.gte(1), z.lte(500))),
      /** The requests of one organization to all operations. */
      requestsPerSecond: z._default(
        z.union([z.int().check(z.gte(1), z.lte(10_000)), z.literal("none")]),
        100,
      ),
      /** All IPv6 addresses of a /64 count as one. */
      unknownCredentialsPerAddressPer5Minutes: z._default(
        z.union([z.int().check(z.gte(1), z.lte(500)), z.literal("none")]),
        100,
      ),
    }),
    {},
  ),
  payments: z.prefault(PaymentSettings, {}),
  verificationGuard: z.optional(GuardFigures),
  domain: z.optional(
    z.strictObject({
      /** API Gateway accepts only lower case, and no address. */
      name: matching(
        /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/,
        "must be a host name in lower case such as sms.example.com, without a dot at the end",
      ),
      certificateArn: arn("acm", "certificate/"),
      /** The hosted zone in Route 53; without it the operator creates the DNS record. */
      hostedZoneId: z.optional(
        matching(/^Z[A-Z0-9]+$/, "must be the id of a hosted zone, such as Z0123456789"),
      ),
    }),
  ),
  firewall: z.optional(
    z.strictObject({
      requestsPerAddressPer5Minutes: RequestsPerAddress,
      /** The share of `/v1/auth/`: logins and registrations have no credential that could be limited. */
      authRequestsPerAddressPer5Minutes: z._default(RequestsPerAddress, 300),
      /** The limit for pages and payment events, which have no credential either. */
      anonymousRequestsPerAddressPer5Minutes: z._default(RequestsPerAddress, 1_000),
      /** The limit for `/v1/carriers/`, to which the first limit does not apply. */
      carrierRequestsPerAddressPer5Minutes: z._default(RequestsPerAddress, 60_000),
    }),
  ),
  email: z.optional(SentEmails),
  /** AWS accepts at most ten addresses for the warnings of a budget. */
  alarmEmails: z._default(z.array(EmailAddress).check(z.maxLength(10)), []),
  /** The names of the keys of session tokens: the first one signs, and all verify. The empty name is that of the first release. */
  sessionKeys: z._default(
    z.array(matching(/^([A-Za-z][A-Za-z0-9]{0,19})?$/, "must be letters and digits, or empty")).check(
      z.minLength(1),
      z.maxLength(3),
      z.refine((names) => new Set(names).size === names.length, "must differ"),
    ),
    [""],
  ),
  runbookUrl: z.optional(
    matching(/^https:\/\/[^\s/]+\/\S*$/, "must be the https address of infra/RUNBOOK.md"),
  ),
  /** SNS calls it for alarms that wake a person. Such an address has a secret, which this file then contains. */
  pagerUrl: z.optional(matching(/^https:\/\/[^\s/]+\/\S*$/, "must be the https address of a pager")),
  /** AWS charges in USD, whatever the currency of the stage is. */
  monthlyBudgetUsd: z.optional(z.number().check(z.positive())),
  monthlyCarrierSpendLimitUsd: z.optional(z.number().check(z.positive())),
  logSentMessages: z._default(z.boolean(), false),
  logRetentionDays: z._default(z.literal(logRetentionDays), 90),
  /** The last count of a day is a month after it, and needs all of its messages. */
  messageRetentionDays: z.optional(z.int().check(z.gte(45), z.lte(3_650))),
  workerConcurrency: z._default(
    z.partialRecord(z.enum(queueNames), z.int().check(z.gte(2), z.lte(1_000))),
    {},
  ),
  reservedConcurrency: z._default(z.partialRecord(FunctionName, z.int().check(z.gte(1), z.lte(10_000))), {}),
  gradualDeployment: z._default(z.boolean(), false),
  adoptTableName: z.optional(matching(/^[\w.-]{3,255}$/, "must be the name of a table")),
  adoptWebhookKeyArn: z.optional(AdoptedSecretArn),
  adoptSecondFactorKeyArn: z.optional(AdoptedSecretArn),
  encryptionKeyArn: z.optional(arn("kms", "key/")),
  /** The region with a replica of the table, which has each write within about a second. */
  replicaRegion: z.optional(matching(/^[a-z]{2}(-[a-z]+)+-\d$/, "must be a region such as eu-west-1")),
  /** AWS accepts no less than a new table has, and charges once for what is above it. It can never be lowered. */
  warmThroughput: z.optional(
    z.strictObject({
      readUnitsPerSecond: z.int().check(z.gte(12_000), z.lte(1_000_000)),
      writeUnitsPerSecond: z.int().check(z.gte(4_000), z.lte(1_000_000)),
    }),
  ),
  backups: z.optional(
    z.strictObject({
      retentionDays: z.int().check(z.gte(1), z.lte(36_500)),
      /** A vault in another account or region that each backup is copied to. */
      copyToVaultArn: z.optional(arn("backup", "backup-vault:")),
    }),
  ),
  tags: z._default(
    z.record(TagText.check(z.minLength(1), z.maxLength(128)), TagText.check(z.maxLength(256))),
    {},
  ),
});
