import type { QueueName } from "./jobs/queue-names.ts";

/** Names of the environment variables that the stack sets and the functions read. */
export const environmentNames = {
  stage: "STAGE",
  tableName: "TABLE_NAME",
  sessionKeyId: "SESSION_KEY_ID",
  webhookKeySecretId: "WEBHOOK_KEY_SECRET_ID",
  secondFactorKeySecretId: "SECOND_FACTOR_KEY_SECRET_ID",
  topUpEnabled: "TOP_UP_ENABLED",
  docsEnabled: "DOCS_ENABLED",
  commit: "COMMIT",
  webhookTargets: "WEBHOOK_TARGETS",
  carrier: "CARRIER",
  prices: "PRICES",
  failoverAtLoss: "FAILOVER_AT_LOSS",
  behindFirewall: "BEHIND_FIREWALL",
  originKeySecretId: "ORIGIN_KEY_SECRET_ID",
  apiUrl: "API_URL",
  emailFrom: "EMAIL_FROM",
  emailName: "EMAIL_NAME",
  emailConfigurationSet: "EMAIL_CONFIGURATION_SET",
  messageRetentionDays: "MESSAGE_RETENTION_DAYS",
  dailySpendCap: "DAILY_SPEND_CAP",
  sendsPerSecond: "SENDS_PER_SECOND",
  oneTimeCodesPerNumber: "ONE_TIME_CODES_PER_NUMBER",
  transactionalMessagesPerNumber: "TRANSACTIONAL_MESSAGES_PER_NUMBER",
  marketingMessagesPerNumber: "MARKETING_MESSAGES_PER_NUMBER",
  oneTimeCodeValiditySeconds: "ONE_TIME_CODE_VALIDITY_SECONDS",
  registrationsPerAddress: "REGISTRATIONS_PER_ADDRESS",
  requestsPerSecond: "REQUESTS_PER_SECOND",
  unknownCredentialsPerAddress: "UNKNOWN_CREDENTIALS_PER_ADDRESS",
  webhooksBeforePayment: "WEBHOOKS_BEFORE_PAYMENT",
  policies: {
    senderIds: "SENDER_ID_POLICY",
    kyc: "KYC_POLICY",
    verifiedEmail: "VERIFIED_EMAIL_POLICY",
    countries: "ALLOWED_COUNTRIES",
    numberTypes: "ALLOWED_NUMBER_TYPES",
    passwords: "PASSWORD_POLICY",
    redactOneTimeCodes: "REDACT_ONE_TIME_CODES",
    apiKeysManageKeys: "API_KEYS_MANAGE_KEYS",
    reauthentication: "REAUTHENTICATION_POLICY",
  },
  queueUrl: {
    campaigns: "CAMPAIGNS_QUEUE_URL",
    carrierCallbacks: "CARRIER_CALLBACKS_QUEUE_URL",
    emails: "EMAILS_QUEUE_URL",
    marketingSends: "MARKETING_SENDS_QUEUE_URL",
    refunds: "REFUNDS_QUEUE_URL",
    transactionalSends: "TRANSACTIONAL_SENDS_QUEUE_URL",
    webhookDeliveries: "WEBHOOK_DELIVERIES_QUEUE_URL",
    webhookRetries: "WEBHOOK_RETRIES_QUEUE_URL",
  },
} as const satisfies Record<string, string | Record<string, string>> & {
  queueUrl: Record<QueueName, string>;
};

/** The header in which CloudFront shows the API its key. */
export const originKeyHeader = "x-origin-key";

/** The header in which CloudFront writes down the address that called it. */
export const viewerAddressHeader = "x-viewer-address";

/** The deployment's settings, read when asked for: a function is given only those that it needs. */
export const config = {
  /** The name of the stage, which its metrics carry. */
  stage: (): string => required(environmentNames.stage),
  tableName: (): string => required(environmentNames.tableName),
  queueUrl: (queue: QueueName): string => required(environmentNames.queueUrl[queue]),
  /** The KMS key that session tokens are signed with. */
  sessionKeyId: (): string => required(environmentNames.sessionKeyId),
  /** Of the key that the secrets of webhooks are sealed with. */
  webhookKeySecretId: (): string => required(environmentNames.webhookKeySecretId),
  /** Of the key that the secrets of second factors are sealed with. */
  secondFactorKeySecretId: (): string => required(environmentNames.secondFactorKeySecretId),
  topUpEnabled: (): boolean => required(environmentNames.topUpEnabled) === "true",
  /** Whether the API reference is served. */
  /** The commit that the function was built from; undefined outside a checkout. */
  commit: (): string | undefined => process.env[environmentNames.commit],
  docsEnabled: (): boolean => required(environmentNames.docsEnabled) === "true",
  /** Whether an API key may manage keys where nothing is said about its scopes. */
  apiKeysManageKeys: (): boolean => required(environmentNames.policies.apiKeysManageKeys) === "true",
  /** `public`: https to public addresses on port 443 only. `any`: also http, loopback and other ports. */
  webhookTargets: (): string => required(environmentNames.webhookTargets),
  carrier: (): string => required(environmentNames.carrier),
  /** Whether messages are sold by the sample prices until others are imported. */
  hasSamplePrices: (): boolean => required(environmentNames.prices) === "sample",
  /** Whether a message may go on to a carrier that takes more for it than the customer paid. */
  mayFailOverAtLoss: (): boolean => required(environmentNames.failoverAtLoss) === "true",
  /** Whether requests come through CloudFront, and no other way. */
  behindFirewall: (): boolean => required(environmentNames.behindFirewall) === "true",
  originKeySecretId: (): string => required(environmentNames.originKeySecretId),
  /** Where customers find the API, without a slash at the end; links in emails lead there. */
  apiUrl: (): string => required(environmentNames.apiUrl),
  /** The address that emails come from; undefined where the stage sends none. */
  emailFrom: (): string | undefined => optional(environmentNames.emailFrom),
  /** Whom emails are from, for a person. */
  emailName: (): string => required(environmentNames.emailName),
  /** The configuration set of SES that emails are sent with; undefined where the identity says which. */
  emailConfigurationSet: (): string | undefined => optional(environmentNames.emailConfigurationSet),
  /** How long a message stays after it came to its end; undefined is for ever. */
  messageRetentionDays: (): number | undefined => optionalNumber(environmentNames.messageRetentionDays),
  /** How many registrations one address may try in an hour; undefined is no limit. */
  registrationsPerAddress: (): number | undefined => optionalNumber(environmentNames.registrationsPerAddress),
  /** How many requests an organisation may make in a second; undefined is no limit. */
  requestsPerSecond: (): number | undefined => optionalNumber(environmentNames.requestsPerSecond),
  /** How many made-up credentials one address may call with in five minutes; undefined is no limit. */
  unknownCredentialsPerAddress: (): number | undefined =>
    optionalNumber(environmentNames.unknownCredentialsPerAddress),
  /** Whether changes of owners, and API keys for keys or money, need a session whose password was given lately. */
  reauthenticationBeforeChanges: (): boolean =>
    required(environmentNames.policies.reauthentication) === "before-changes",
  /** Whether new passwords must not be easy to guess. */
  uncommonPasswordsOnly: (): boolean => required(environmentNames.policies.passwords) === "uncommon",
  /** Whether messages carry those sender IDs alone that are approved for their organisation. */
  approvedSenderIdsOnly: (): boolean => required(environmentNames.policies.senderIds) === "approved",
  kycBeforeSending: (): boolean => required(environmentNames.policies.kyc) === "before-sending",
  verifiedEmailBeforeSending: (): boolean =>
    required(environmentNames.policies.verifiedEmail) === "before-sending",
  /** The countries that messages may go to, as ISO 3166-1 codes; undefined is anywhere. */
  allowedCountries: (): ReadonlySet<string> | undefined => {
    const countries = required(environmentNames.policies.countries);
    return countries === "any" ? undefined : new Set(countries.split(" "));
  },
  /** The types of numbers that messages may go to; undefined is any, and those of no known type. */
  allowedNumberTypes: (): ReadonlySet<string> | undefined => {
    const types = required(environmentNames.policies.numberTypes);
    return types === "any" ? undefined : new Set(types.split(" "));
  },
  /** What an organisation may spend in a day, as a decimal number; undefined is no cap. */
  dailySpendCap: (): string | undefined => optional(environmentNames.dailySpendCap),
  /** What an organisation may send in a second; undefined is no limit. */
  sendsPerSecond: (): number | undefined => optionalNumber(environmentNames.sendsPerSecond),
  /** How many one-time codes an organisation may send to one number in ten minutes; undefined is no limit. */
  oneTimeCodesPerNumber: (): number | undefined => optionalNumber(environmentNames.oneTimeCodesPerNumber),
  /** How long a one-time code is valid where the request does not say. */
  oneTimeCodeValiditySeconds: (): number => Number(required(environmentNames.oneTimeCodeValiditySeconds)),
  /** How many transactional messages an organization may send to one number in ten minutes; undefined is no limit. */
  transactionalMessagesPerNumber: (): number | undefined =>
    optionalNumber(environmentNames.transactionalMessagesPerNumber),
  /** How many marketing and campaign messages an organization may send to one number in a day; undefined is no limit. */
  marketingMessagesPerNumber: (): number | undefined =>
    optionalNumber(environmentNames.marketingMessagesPerNumber),
  /** Whether the text of a one-time code goes when its message has come to its end. */
  redactOneTimeCodes: (): boolean => required(environmentNames.policies.redactOneTimeCodes) === "true",
  /** How many webhooks an organisation may have before money has come into its wallet; undefined is as many as after. */
  webhooksBeforePayment: (): number | undefined => optionalNumber(environmentNames.webhooksBeforePayment),
};

function optional(name: string): string | undefined {
  const value = process.env[name];
  return value === "" ? undefined : value;
}

function optionalNumber(name: string): number | undefined {
  const value = optional(name);
  return value === undefined ? undefined : Number(value);
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`environment variable ${name} is not set`);
  return value;
}
