import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import * as z from "zod/mini";

import { Country } from "../../shared/contract/countries.ts";
import { numberTypes } from "../../shared/contract/phone-numbers.ts";
import { ExpiresInSeconds } from "../../shared/contract/sms.ts";
import { validate } from "../../shared/contract/validation.ts";
import { queueNames } from "../../shared/platform/jobs/queue-names.ts";
import { routes, type Operation } from "../../shared/routes.ts";
import { projectRoot } from "../project-root.ts";
import { workers } from "../workers.ts";

/** How long CloudWatch can keep a log. */
const logRetentionDays = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1_096, 1_827, 2_192, 2_557, 2_922, 3_288,
  3_653,
] as const;

const Throttle = z.strictObject({
  /** Requests a second over all customers. */
  rateLimit: z.int().check(z.gte(1), z.lte(10_000)),
  /** How many more a short burst may bring. */
  burstLimit: z.int().check(z.gte(1), z.lte(5_000)),
});

// The keys of the table are its operations, which the compiler does not say of `Object.keys`.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const operationNames = Object.keys(routes) as Operation[];
const FunctionName = z.enum([...operationNames, ...Object.keys(workers)]);

const Email = z.email("must be an email address");
const arn = (service: string, example: string): z.ZodMiniString<string> =>
  z.string().check(z.regex(new RegExp(`^arn:aws[a-z-]*:${service}:`), `must be an ARN such as ${example}`));

/** Where AWS keeps the certificates and the firewalls of CloudFront, wherever the rest of a stage is. */
export const cloudFrontRegion = "us-east-1";

/** What AWS WAF takes as the limit of a rule. */
const RequestsPerAddress = z.int().check(z.gte(10), z.lte(2_000_000_000));

/** What a stage asks for beside the contract's own rules. None sends to anybody, or for anybody, by mistake. */
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
  /** What new passwords must be, apart from long enough. */
  passwords: z._default(z.enum(["any", "uncommon"]), "uncommon"),
  redactOneTimeCodes: z._default(z.boolean(), false),
  /** Whether an API key that was made without scopes may manage keys. */
  apiKeysManageKeys: z._default(z.boolean(), false),
  /** Whether changes of owners, and API keys for keys or money, need a session whose password was given lately. */
  reauthentication: z._default(z.enum(["none", "before-changes"]), "before-changes"),
});

/** Whom emails come from. */
const SentEmails = z.strictObject({
  from: Email,
  name: z._default(
    z.string().check(z.regex(/^[\w .,&'()-]{1,60}$/, "must be up to 60 letters, digits and spaces of ASCII")),
    "SMS gateway",
  ),
  /** The identity of SES that the address belongs to: its domain, where nothing is said. */
  identity: z.optional(
    z.string().check(z.regex(/^([^@\s/:]+@)?[\w.-]+$/, "must be a domain, or an address")),
  ),
  /** A configuration set of SES that is there: emails are sent with it, and it says which came back. */
  configurationSet: z.optional(
    z
      .string()
      .check(
        z.regex(
          /^[\w-]{1,64}$/,
          "must be the name of a configuration set, up to 64 letters, digits, _ and -",
        ),
      ),
  ),
});

/** The settings of a stage, as its file has them. What each means is in the README beside it. */
export const StageSettings = z.strictObject({
  account: z.optional(z.string().check(z.regex(/^\d{12}$/, "must be the twelve digits of an AWS account"))),
  region: z.optional(
    z.string().check(z.regex(/^[a-z]{2}(-[a-z]+)+-\d$/, "must be a region such as eu-west-1")),
  ),
  carrier: z.enum(["aws", "sandbox"]),
  prices: z._default(z.enum(["imported", "sample"]), "imported"),
  /** The share of a price that must be left after what a carrier takes. */
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
  failoverAtLoss: z._default(z.boolean(), false),
  keepData: z.boolean(),
  policies: Policies,
  topUpEnabled: z._default(z.boolean(), false),
  webhookTargets: z._default(z.enum(["any", "public"]), "public"),
  /** What customers may do only once somebody has said so. What is not said is strict. */
  docsEnabled: z._default(z.boolean(), true),
  corsOrigins: z._default(
    z.array(
      z
        .string()
        .check(z.regex(/^(\*|https?:\/\/[^/*?#\s]+)$/, "must be * or an origin such as https://example.com")),
    ),
    [],
  ),
  throttle: z.prefault(
    z.extend(Throttle, {
      /** For each route without a credential: a limit of its own, so that its traffic cannot exhaust the shared one. */
      anonymous: z._default(Throttle, { rateLimit: 50, burstLimit: 100 }),
      /** Of each route that carriers report to: a receipt for each message that is sent, and what has waited all at once. */
      carriers: z._default(Throttle, { rateLimit: 500, burstLimit: 1_000 }),
      operations: z._default(z.partialRecord(z.enum(operationNames), Throttle), {}),
    }),
    { rateLimit: 1_000, burstLimit: 1_000 },
  ),
  limits: z.prefault(
    z.strictObject({
      /** The first two are of an organisation about which the operator has said nothing else. */
      dailySpendCap: z.optional(
        z
          .string()
          .check(z.regex(/^(?=.*[1-9])\d{1,7}(\.\d{1,6})?$/, 'must be an amount in USD such as "50.00"')),
      ),
      sendsPerSecond: z.optional(z.int().check(z.gte(1), z.lte(10_000))),
      /** Messages of one organization to one number: codes and transactional ones in ten minutes, marketing in a day. */
      oneTimeCodesPerNumberPer10Minutes: z.optional(z.int().check(z.gte(1), z.lte(100))),
      transactionalMessagesPerNumberPer10Minutes: z.optional(z.int().check(z.gte(1), z.lte(100))),
      marketingMessagesPerNumberPerDay: z.optional(z.int().check(z.gte(1), z.lte(100))),
      /** Of a message of type `otp` whose request does not say how long it is valid. */
      oneTimeCodeValiditySeconds: z._default(ExpiresInSeconds, 600),
      webhooksBeforePayment: z.optional(z.int().check(z.gte(0), z.lte(100))),
      /** In an hour; of IPv6 all of a /64 count as one address. */
      registrationsPerAddressPerHour: z.optional(z.int().check(z.gte(1), z.lte(500))),
      /** Of an organisation, over all operations. */
      requestsPerSecond: z._default(
        z.union([z.int().check(z.gte(1), z.lte(10_000)), z.literal("none")]),
        100,
      ),
      /** In five minutes; of IPv6 all of a /64 count as one address. */
      unknownCredentialsPerAddressPer5Minutes: z._default(
        z.union([z.int().check(z.gte(1), z.lte(500)), z.literal("none")]),
        100,
      ),
    }),
    {},
  ),
  domain: z.optional(
    z.strictObject({
      name: z.hostname("must be a host name such as sms.example.com"),
      certificateArn: arn("acm", "arn:aws:acm:eu-west-1:123456789012:certificate/…"),
      /** Of Route 53; without it the operator makes the DNS record. */
      hostedZoneId: z.optional(
        z.string().check(z.regex(/^Z[A-Z0-9]+$/, "must be the id of a hosted zone, such as Z0123456789")),
      ),
    }),
  ),
  firewall: z.optional(
    z.strictObject({
      requestsPerAddressPer5Minutes: RequestsPerAddress,
      /** Of these, to `/v1/auth/`: log-ins and registrations have no credential yet that could be limited. */
      authRequestsPerAddressPer5Minutes: z._default(RequestsPerAddress, 300),
      /** To `/v1/carriers/`, which the first limit leaves out. */
      carrierRequestsPerAddressPer5Minutes: z._default(RequestsPerAddress, 60_000),
    }),
  ),
  email: z.optional(SentEmails),
  /** AWS takes so many for the warnings of a budget. */
  alarmEmails: z._default(z.array(Email).check(z.maxLength(10)), []),
  monthlyBudgetUsd: z.optional(z.number().check(z.positive())),
  monthlyCarrierSpendLimitUsd: z.optional(z.number().check(z.positive())),
  logRetentionDays: z._default(z.literal(logRetentionDays), 90),
  /** A day is counted for the last time a month after it, which needs all of its messages. */
  messageRetentionDays: z.optional(z.int().check(z.gte(45), z.lte(3_650))),
  workerConcurrency: z._default(
    z.partialRecord(z.enum(queueNames), z.int().check(z.gte(2), z.lte(1_000))),
    {},
  ),
  reservedConcurrency: z._default(z.partialRecord(FunctionName, z.int().check(z.gte(1), z.lte(10_000))), {}),
  gradualDeployment: z._default(z.boolean(), false),
  adoptTableName: z.optional(z.string().check(z.regex(/^[\w.-]{3,255}$/, "must be the name of a table"))),
  adoptWebhookKeyArn: z.optional(
    arn("secretsmanager", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:…").check(
      z.regex(/-\w{6}$/, "must be a whole ARN, with the six characters at the end"),
    ),
  ),
  adoptSecondFactorKeyArn: z.optional(
    arn("secretsmanager", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:…").check(
      z.regex(/-\w{6}$/, "must be a whole ARN, with the six characters at the end"),
    ),
  ),
  encryptionKeyArn: z.optional(arn("kms", "arn:aws:kms:eu-west-1:123456789012:key/…")),
  backups: z.optional(
    z.strictObject({
      retentionDays: z.int().check(z.gte(1), z.lte(36_500)),
      /** A vault in another account or region that each backup is copied to. */
      copyToVaultArn: z.optional(arn("backup", "arn:aws:backup:eu-west-1:123456789012:backup-vault:…")),
    }),
  ),
  tags: z._default(
    z.record(z.string().check(z.minLength(1), z.maxLength(128)), z.string().check(z.maxLength(256))),
    {},
  ),
});

/** What holds between several settings. */
const ConsistentSettings = StageSettings.check(
  z.superRefine((settings, context) => {
    const { region, domain, firewall, monthlyBudgetUsd, alarmEmails, email, policies } = settings;
    const problem = (field: string[], message: string): void =>
      context.addIssue({ code: "custom", path: field, message });
    if (monthlyBudgetUsd !== undefined && alarmEmails.length === 0) {
      problem(["monthlyBudgetUsd"], "warns those in alarmEmails, and there are none");
    }
    if (policies.verifiedEmail === "before-sending" && email === undefined) {
      problem(["policies", "verifiedEmail"], "takes email: without it no user can verify an address");
    }
    const regionOfCertificate = firewall === undefined ? region : cloudFrontRegion;
    if (domain === undefined || regionOfCertificate === undefined) return;
    if (domain.certificateArn.split(":")[3] !== regionOfCertificate) {
      problem(["domain", "certificateArn"], `must be a certificate in ${regionOfCertificate}`);
    }
  }),
);

/** A stage: what its file says, under the file's name. */
export interface Stage extends z.infer<typeof StageSettings> {
  readonly name: string;
}

/**
 * The settings of a stage by its name. They come from `<name>.json` in this folder, or in the one that the environment
 * variable `STAGES_FOLDER` names.
 * @throws Error that names the file, and each field that is wrong
 */
export function stageNamed(name: string): Stage {
  const folder = path.resolve(projectRoot, process.env["STAGES_FOLDER"] ?? "infra/stages");
  const names = readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.replace(/\.json$/, ""));
  if (!names.includes(name)) {
    throw new Error(
      `there is no stage ${name}, only ${names.toSorted().join(", ")}: see infra/stages/README.md`,
    );
  }
  const file = path.join(folder, `${name}.json`);
  const wrong = (problems: readonly string[]): Error =>
    new Error([`${file} is not right:`, ...problems].join("\n  "));
  // It becomes part of the names of what AWS keeps for the stage.
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(name)) {
    throw wrong(["its name must be 1 to 20 lower-case letters, digits and hyphens, with a letter in front"]);
  }
  const settings = validate(ConsistentSettings, readJson(file, wrong), "setting");
  if (!settings.success) {
    throw wrong(settings.details.map((detail) => `${detail.path || "the file"}: ${detail.message}`));
  }
  return { ...settings.data, name };
}

/** The carrier of every stage on this machine. */
export const localCarrier = "sandbox";

/** A stage without what only AWS has. Its rules hold on this machine as they do there. */
export function forThisMachine(stage: Stage): Stage {
  const onlyInAws = {
    account: undefined,
    region: undefined,
    domain: undefined,
    firewall: undefined,
    adoptTableName: undefined,
    adoptWebhookKeyArn: undefined,
    adoptSecondFactorKeyArn: undefined,
    encryptionKeyArn: undefined,
    backups: undefined,
  };
  // What an email is sent with, and what then says that it came back.
  const email = stage.email && { ...stage.email, configurationSet: undefined };
  return { ...stage, ...onlyInAws, email, carrier: localCarrier, keepData: false, gradualDeployment: false };
}

function readJson(file: string, wrong: (problems: readonly string[]) => Error): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw error instanceof SyntaxError ? wrong([error.message]) : error;
  }
}
