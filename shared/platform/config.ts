import type { QueueName } from "./queue-names.ts";

/** Names of the environment variables that the stack sets and the functions read. */
export const environmentNames = {
  stage: "STAGE",
  currency: "CURRENCY",
  tableName: "TABLE_NAME",
  documentsBucket: "DOCUMENTS_BUCKET",
  sessionKeyId: "SESSION_KEY_ID",
  webhookKeySecretId: "WEBHOOK_KEY_SECRET_ID",
  verificationKeySecretId: "VERIFICATION_KEY_SECRET_ID",
  secondFactorKeySecretId: "SECOND_FACTOR_KEY_SECRET_ID",
  topUpEnabled: "TOP_UP_ENABLED",
  docsEnabled: "DOCS_ENABLED",
  commit: "COMMIT",
  webhookTargets: "WEBHOOK_TARGETS",
  carrier: "CARRIER",
  prices: "PRICES",
  failoverAtLoss: "FAILOVER_AT_LOSS",
  logSentMessages: "LOG_SENT_MESSAGES",
  behindFirewall: "BEHIND_FIREWALL",
  originKeySecretId: "ORIGIN_KEY_SECRET_ID",
  apiUrl: "API_URL",
  brand: "BRAND",
  emailFrom: "EMAIL_FROM",
  emailName: "EMAIL_NAME",
  emailConfigurationSet: "EMAIL_CONFIGURATION_SET",
  operatorEmails: "OPERATOR_EMAILS",
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
  verificationGuard: "VERIFICATION_GUARD",
  payments: "PAYMENTS",
  paymentsEnabled: "PAYMENTS_ENABLED",
  paymentSecretId: "PAYMENT_SECRET_ID",
  stripeApiUrl: "STRIPE_API_URL",
  policies: {
    senderIds: "SENDER_ID_POLICY",
    kyc: "KYC_POLICY",
    verifiedEmail: "VERIFIED_EMAIL_POLICY",
    countries: "ALLOWED_COUNTRIES",
    numberTypes: "ALLOWED_NUMBER_TYPES",
    senderCountries: "SENDER_COUNTRY_POLICY",
    passwords: "PASSWORD_POLICY",
    redactOneTimeCodes: "REDACT_ONE_TIME_CODES",
    apiKeysManageKeys: "API_KEYS_MANAGE_KEYS",
    reauthentication: "REAUTHENTICATION_POLICY",
  },
  queueUrl: {
    auditEntries: "AUDIT_ENTRIES_QUEUE_URL",
    books: "BOOKS_QUEUE_URL",
    campaigns: "CAMPAIGNS_QUEUE_URL",
    carrierCallbacks: "CARRIER_CALLBACKS_QUEUE_URL",
    emails: "EMAILS_QUEUE_URL",
    exports: "EXPORTS_QUEUE_URL",
    marketingSends: "MARKETING_SENDS_QUEUE_URL",
    payments: "PAYMENTS_QUEUE_URL",
    refunds: "REFUNDS_QUEUE_URL",
    transactionalSends: "TRANSACTIONAL_SENDS_QUEUE_URL",
    webhookDeliveries: "WEBHOOK_DELIVERIES_QUEUE_URL",
    webhookRetries: "WEBHOOK_RETRIES_QUEUE_URL",
  },
} as const satisfies Record<string, string | Record<string, string>> & {
  queueUrl: Record<QueueName, string>;
};

/** The header in which CloudFront sends its key to the API. */
export const originKeyHeader = "x-origin-key";

/** The header in which CloudFront sends the address of its caller. */
export const viewerAddressHeader = "x-viewer-address";

/** The deployment's settings. They are read on access, because a function has only those that it needs. */
export const config = {
  /** The name of the stage, which its metrics carry. */
  stage: (): string => required(environmentNames.stage),
  /** The ISO 4217 code of the currency of all amounts. */
  currency: (): string => required(environmentNames.currency),
  tableName: (): string => required(environmentNames.tableName),
  /** The bucket with the PDFs of invoices. */
  documentsBucket: (): string => required(environmentNames.documentsBucket),
  queueUrl: (queue: QueueName): string => required(environmentNames.queueUrl[queue]),
  /** The KMS keys of session tokens. The first one signs, and all verify. */
  sessionKeyIds: (): readonly string[] => required(environmentNames.sessionKeyId).split(","),
  /** The secret with the key that seals the secrets of webhooks. */
  webhookKeySecretId: (): string => required(environmentNames.webhookKeySecretId),
  verificationKeySecretId: (): string => required(environmentNames.verificationKeySecretId),
  /** The secret with the key that seals the secrets of second factors. */
  secondFactorKeySecretId: (): string => required(environmentNames.secondFactorKeySecretId),
  topUpEnabled: (): boolean => required(environmentNames.topUpEnabled) === "true",
  /** The commit that the function was built from; undefined outside a checkout. */
  commit: (): string | undefined => process.env[environmentNames.commit],
  /** Whether the documentation is served. */
  docsEnabled: (): boolean => required(environmentNames.docsEnabled) === "true",
  /** Whether an API key may manage keys if its request names no scopes. */
  apiKeysManageKeys: (): boolean => required(environmentNames.policies.apiKeysManageKeys) === "true",
  /** `public`: https to public addresses on port 443 only. `any`: also http, loopback and other ports. */
  webhookTargets: (): string => required(environmentNames.webhookTargets),
  carrier: (): string => required(environmentNames.carrier),
  /** Whether the sample prices apply until others are imported. */
  hasSamplePrices: (): boolean => required(environmentNames.prices) === "sample",
  /** Whether a message may fail over to a carrier that charges more than the customer paid. */
  mayFailOverAtLoss: (): boolean => required(environmentNames.failoverAtLoss) === "true",
  /** Whether a message that its first carrier accepted has a log line. */
  logsSentMessages: (): boolean => required(environmentNames.logSentMessages) === "true",
  /** Whether all requests come through CloudFront. */
  behindFirewall: (): boolean => required(environmentNames.behindFirewall) === "true",
  originKeySecretId: (): string => required(environmentNames.originKeySecretId),
  /** The public address of the API, without a slash at the end. Links in emails use it. */
  apiUrl: (): string => required(environmentNames.apiUrl),
  /** The brand of the stage in JSON. */
  brand: (): string => required(environmentNames.brand),
  /** The sender address of emails; undefined if the stage sends none. */
  emailFrom: (): string | undefined => optional(environmentNames.emailFrom),
  /** The sender name of emails. */
  emailName: (): string => required(environmentNames.emailName),
  /** The SES configuration set for emails; undefined if the identity determines it. */
  emailConfigurationSet: (): string | undefined => optional(environmentNames.emailConfigurationSet),
  /** The addresses of the operators. */
  operatorEmails: (): string[] => optional(environmentNames.operatorEmails)?.split(" ") ?? [],
  /** How long a message is kept after its final state; undefined is for ever. */
  messageRetentionDays: (): number | undefined => optionalNumber(environmentNames.messageRetentionDays),
  /** How many registrations one address may attempt in an hour; undefined is no limit. */
  registrationsPerAddress: (): number | undefined => optionalNumber(environmentNames.registrationsPerAddress),
  /** How many requests an organization may make in a second; undefined is no limit. */
  requestsPerSecond: (): number | undefined => optionalNumber(environmentNames.requestsPerSecond),
  /** How many unknown credentials one address may use in five minutes; undefined is no limit. */
  unknownCredentialsPerAddress: (): number | undefined =>
    optionalNumber(environmentNames.unknownCredentialsPerAddress),
  /** Whether changes of owners, and API keys for keys or money, require a session with a recent password entry. */
  reauthenticationBeforeChanges: (): boolean =>
    required(environmentNames.policies.reauthentication) === "before-changes",
  /** Whether common passwords are rejected. */
  uncommonPasswordsOnly: (): boolean => required(environmentNames.policies.passwords) === "uncommon",
  /** Whether messages may only have sender IDs that are approved for their organization. */
  approvedSenderIdsOnly: (): boolean => required(environmentNames.policies.senderIds) === "approved",
  kycBeforeSending: (): boolean => required(environmentNames.policies.kyc) === "before-sending",
  verifiedEmailBeforeSending: (): boolean =>
    required(environmentNames.policies.verifiedEmail) === "before-sending",
  /** The countries that messages may go to, as ISO 3166-1 codes; undefined is anywhere. */
  allowedCountries: (): ReadonlySet<string> | undefined => {
    const countries = required(environmentNames.policies.countries);
    return countries === "any" ? undefined : new Set(countries.split(" "));
  },
  /** The types of numbers that messages may go to; undefined is any type, or an unknown one. */
  allowedNumberTypes: (): ReadonlySet<string> | undefined => {
    const types = required(environmentNames.policies.numberTypes);
    return types === "any" ? undefined : new Set(types.split(" "));
  },
  /** Whether messages with letters as their sender go only to countries that accept these. */
  lettersOnlyWhereAllowed: (): boolean => required(environmentNames.policies.senderCountries) === "allowed",
  /** The spending limit of an organization for a day, as a decimal number; undefined is no cap. */
  dailySpendCap: (): string | undefined => optional(environmentNames.dailySpendCap),
  /** How many messages an organization may send in a second; undefined is no limit. */
  sendsPerSecond: (): number | undefined => optionalNumber(environmentNames.sendsPerSecond),
  /** How many one-time codes an organization may send to one number in ten minutes; undefined is no limit. */
  oneTimeCodesPerNumber: (): number | undefined => optionalNumber(environmentNames.oneTimeCodesPerNumber),
  /** How long a one-time code is valid if the request does not state it. */
  oneTimeCodeValiditySeconds: (): number => Number(required(environmentNames.oneTimeCodeValiditySeconds)),
  /** How many transactional messages an organization may send to one number in ten minutes; undefined is no limit. */
  transactionalMessagesPerNumber: (): number | undefined =>
    optionalNumber(environmentNames.transactionalMessagesPerNumber),
  /** How many marketing and campaign messages an organization may send to one number in a day; undefined is no limit. */
  marketingMessagesPerNumber: (): number | undefined =>
    optionalNumber(environmentNames.marketingMessagesPerNumber),
  /** Whether the text of a one-time code is deleted when its message is final. */
  redactOneTimeCodes: (): boolean => required(environmentNames.policies.redactOneTimeCodes) === "true",
  /** How many webhooks an organization may have before its wallet first has money; undefined is no special limit. */
  webhooksBeforePayment: (): number | undefined => optionalNumber(environmentNames.webhooksBeforePayment),
  /** The figures of the guard of verifications that the stage has set, in JSON. */
  verificationGuard: (): string => optional(environmentNames.verificationGuard) ?? "{}",
  /** Whether customers have a method of payment. */
  paymentsEnabled: (): boolean => required(environmentNames.paymentsEnabled) === "true",
  /** How customers pay: the stage's settings in JSON. */
  payments: (): string => required(environmentNames.payments),
  /** The secret with the keys of the payment provider. */
  paymentSecretId: (): string => required(environmentNames.paymentSecretId),
  /** The address of the local gateway's payment provider; undefined is Stripe itself. */
  stripeApiUrl: (): string | undefined => optional(environmentNames.stripeApiUrl),
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
