/**
 * The keys of the one table, and what they are read for.
 *
 * | access pattern                                   | pk                  | sk            |
 * | ------------------------------------------------ | ------------------- | ------------- |
 * | an organisation                                  | ORG#<org>           | ORG           |
 * | an organisation's API keys, or one by its id     | ORG#<org>           | KEY#<key>     |
 * | an organisation's webhooks, or one by its id     | ORG#<org>           | WEBHOOK#<whk> |
 * | what the calls to an endpoint are signed with    | WEBHOOK_SECRETS#<org> | <whk>       |
 * | who owns an organization, whose email is verified, whether KYC is approved | RIGHTS#<org> | RIGHTS |
 * | an organization's KYC submission                 | KYC#<org>           | KYC           |
 * | an organisation's sender IDs, or one by its name | ORG#<org>           | SENDER-ID#<lower-case name> |
 * | the organisations that a sender ID is approved for | SENDER#<upper-case name> | SENDER |
 * | a user                                           | USER#<user>         | USER          |
 * | who belongs to an organisation                   | MEMBERS#<org>       | <user>        |
 * | the invitation of an email; keeps it the only one | MEMBERS#<org>      | EMAIL#<sha-256> |
 * | an invitation, by the user whom it makes         | INVITATION#<user>   | INVITATION    |
 * | what a user's password is checked with           | CREDENTIALS#<user>  | PASSWORD      |
 * | what the codes of a user's app are checked with  | CREDENTIALS#<user>  | SECOND_FACTOR |
 * | the user who owns an email; keeps emails unique  | EMAIL#<email>       | EMAIL         |
 * | the newest link for one purpose that was sent to a user | EMAIL_TOKEN#<user> | <purpose> |
 * | that an email is being sent, or was              | SENT_EMAIL#<email>  | SENT_EMAIL    |
 * | that no emails are sent to an address           | EMAIL_SUPPRESSION#<sha-256> | EMAIL_SUPPRESSION |
 * | that a user has logged in from a network         | KNOWN_NETWORK#<sha-256> | KNOWN_NETWORK |
 * | whom an API key belongs to                       | KEY#<sha-256>       | KEY           |
 * | when an organisation's API keys were last used   | KEY_USES#<org>      | <key>         |
 * | the balance, and what was accepted today         | WALLET#<org>        | WALLET        |
 * | the wallets that there are                       | WALLETS#<shard>     | <org>         |
 * | the movement of money that a reference was used for | REFERENCE#<sha-256> | REFERENCE  |
 * | the ledger in order; a seq is taken by one entry | LEDGER#<org>, LEDGER#<org>#<part> | <seq> |
 * | an organisation's messages in order, or one      | MESSAGES#<org>, MESSAGES#<org>#<part> | <message> |
 * | messages of one day by their state               | STATS#<org>, STATS#<org>#<part> | DAY#<yyyy-mm-dd> |
 * | messages of one campaign by their state          | STATS#<org>         | CAMPAIGN#<cmp> |
 * | an organisation's contacts in order, or one      | CONTACTS#<org>      | <contact>     |
 * | the contact that has a number; keeps it unique   | CONTACTS#<org>      | PHONE#<number>|
 * | the numbers that have opted out of an organisation's marketing | OPT_OUTS#<org> | <number> |
 * | the messages that came to an organisation's numbers, in order | INBOUND#<org> | <inbound> |
 * | that a carrier's message has been taken, by its id there | INBOUND#<org> | TAKEN#<sha-256> |
 * | that a number was erased, by a digest of it      | INBOUND#<org>       | ERASED#<sha-256> |
 * | whose the messages are that come to a number     | NUMBERS#all         | <number>      |
 * | an organisation's templates in order, or one     | TEMPLATES#<org>     | <template>    |
 * | an organisation's campaigns in order, or one     | CAMPAIGNS#<org>     | <campaign>    |
 * | what waits for an operator's decision            | REVIEWS#<kind>      | <id of it>    |
 * | the answer to an idempotent request              | IDEMPOTENCY#<org>#<sha-256> | IDEMPOTENCY |
 * | an endpoint's webhook deliveries, or one by its id | DELIVERIES#<whk>  | <delivery>    |
 * | the calls that an endpoint has not answered yet, or a host has not to one organisation | OPENCALLS#<whk>, OPENCALLS#<org>#<host> | OPENCALLS |
 * | jobs that fall due in one minute                 | DUE#<minute>#<shard>| <dueAt>#<id>  |
 * | how far due jobs of a shard have been released   | RELEASE#due-jobs    | RELEASE#<shard> |
 * | who did what in an organisation, or to the stage | AUDIT#<org>, AUDIT#stage | <entry>    |
 * | what came of it                                  | AUDIT#<org>#outcomes, AUDIT#stage#outcomes | <entry> |
 * | which version of the rate card counts            | PRICES#card         | CURRENT       |
 * | a version of the rate card                       | PRICES#card         | VERSION#<version> |
 * | what is in it                                    | PRICES#card#<version> | <chunk>     |
 * | the prices of one organisation                   | PRICES#<org>        | OVERRIDES     |
 * | what a day brought in and cost, of an organisation | MARGINS#<yyyy-mm-dd> | <org>#<part> |
 * | which key the newest sealed texts of a kind have | SEALING_KEYS#all    | <kind>        |
 * | whether the stage sends                          | SENDING#all         | SENDING       |
 * | all carriers and the routes to them, or one      | CARRIERS#all        | CARRIER#<name>, ROUTE#<prefix>#<message type> |
 * | whether the carriers work, or one                | BREAKERS#all        | <carrier>     |
 * | when a carrier takes the next message            | PACE#<carrier>      | PACE          |
 * | when something was tried that is limited         | LIMIT#<what>#<whom> | LIMIT         |
 * | what the sandbox carrier has taken               | SANDBOX#<message>   | SANDBOX       |
 *
 * One partition takes 1,000 write units a second, so the wallet, the ledger, the messages and the counters of an
 * organisation have partitions of their own. What a message needs of each, sent alone / in a campaign, and so how many a
 * second an organisation can have: WALLET 1 / 0.02, 1,000 / 48,000; LEDGER 1 / 2, 1,000 / 500; MESSAGES 3 / 4, 330 / 250;
 * STATS 1.1 to 2 / 0.2 to 2, 500 and more. All but the wallet can be kept in up to eight parts, each of which takes as
 * much. `infra/SCALE.md` has the arithmetic.
 *
 * One index, `agenda`, lists what background work has to look at, and when: the few items that say so in the fields
 * `agenda` (what for, and which shard of the work) and `lookAt` (ISO 8601). What has nothing to be looked at is not in
 * it and costs nothing, and an item that is in it costs a write more only when these two fields change.
 *
 * | what is looked at                                | agenda              | lookAt        |
 * | ------------------------------------------------ | ------------------- | ------------- |
 * | wallets whose ledger is not settled              | SETTLE#<shard>      | when its oldest change is old enough |
 * | days whose counts are not final                  | CLOSE-DAY#<shard>   | when to count it |
 * | organisations whose owner has not verified their email, where a stage asks for that | EXPIRE-ACCOUNT#<shard> | a week after they registered |
 */
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** What stands before the first # of every partition key. A function's role names the families it may touch. */
export const keyFamilies = [
  "AUDIT",
  "BREAKERS",
  "CAMPAIGNS",
  "CARRIERS",
  "CONTACTS",
  "CREDENTIALS",
  "DELIVERIES",
  "DUE",
  "EMAIL",
  "EMAIL_SUPPRESSION",
  "EMAIL_TOKEN",
  "IDEMPOTENCY",
  "INBOUND",
  "INVITATION",
  "KEY",
  "KEY_USES",
  "KNOWN_NETWORK",
  "KYC",
  "LEDGER",
  "LIMIT",
  "MARGINS",
  "MEMBERS",
  "MESSAGES",
  "NUMBERS",
  "OPENCALLS",
  "OPT_OUTS",
  "ORG",
  "PACE",
  "PRICES",
  "REFERENCE",
  "RELEASE",
  "REVIEWS",
  "RIGHTS",
  "SANDBOX",
  "SEALING_KEYS",
  "SENDER",
  "SENDING",
  "SENT_EMAIL",
  "STATS",
  "TEMPLATES",
  "USER",
  "WALLET",
  "WALLETS",
  "WEBHOOK_SECRETS",
] as const;
export type KeyFamily = (typeof keyFamilies)[number];

/** The kinds of things that an operator decides on. */
export type ReviewKind = "kyc" | "sender-ids";

/** What is sealed in the table, each kind with a key of its own. */
export type SealedKind = "secondFactors" | "webhooks";

export const keys = {
  organization: (organizationId: string): Key => ({ pk: `ORG#${organizationId}`, sk: "ORG" }),
  apiKeyOfOrganization: (organizationId: string, keyId: string): Key => ({
    pk: `ORG#${organizationId}`,
    sk: `KEY#${keyId}`,
  }),
  webhook: (organizationId: string, webhookId: string): Key => ({
    pk: `ORG#${organizationId}`,
    sk: `WEBHOOK#${webhookId}`,
  }),
  webhookSecrets: (organizationId: string, webhookId: string): Key => ({
    pk: `WEBHOOK_SECRETS#${organizationId}`,
    sk: webhookId,
  }),
  rights: (organizationId: string): Key => ({ pk: `RIGHTS#${organizationId}`, sk: "RIGHTS" }),
  kyc: (organizationId: string): Key => ({ pk: `KYC#${organizationId}`, sk: "KYC" }),
  senderId: (organizationId: string, senderId: string): Key => ({
    pk: `ORG#${organizationId}`,
    sk: `SENDER-ID#${senderId.toLowerCase()}`,
  }),
  senderName: (senderId: string): Key => ({ pk: `SENDER#${senderId.toUpperCase()}`, sk: "SENDER" }),
  user: (userId: string): Key => ({ pk: `USER#${userId}`, sk: "USER" }),
  member: (organizationId: string, userId: string): Key => ({ pk: `MEMBERS#${organizationId}`, sk: userId }),
  invitedEmail: (organizationId: string, emailHash: string): Key => ({
    pk: `MEMBERS#${organizationId}`,
    sk: `EMAIL#${emailHash}`,
  }),
  invitation: (userId: string): Key => ({ pk: `INVITATION#${userId}`, sk: "INVITATION" }),
  password: (userId: string): Key => ({ pk: `CREDENTIALS#${userId}`, sk: "PASSWORD" }),
  secondFactor: (userId: string): Key => ({ pk: `CREDENTIALS#${userId}`, sk: "SECOND_FACTOR" }),
  email: (email: string): Key => ({ pk: `EMAIL#${email}`, sk: "EMAIL" }),
  emailSuppression: (hash: string): Key => ({
    pk: `EMAIL_SUPPRESSION#${hash}`,
    sk: "EMAIL_SUPPRESSION",
  }),
  emailToken: (userId: string, purpose: string): Key => ({ pk: `EMAIL_TOKEN#${userId}`, sk: purpose }),
  sentEmail: (emailId: string): Key => ({ pk: `SENT_EMAIL#${emailId}`, sk: "SENT_EMAIL" }),
  knownNetwork: (hash: string): Key => ({ pk: `KNOWN_NETWORK#${hash}`, sk: "KNOWN_NETWORK" }),
  apiKey: (secretHash: string): Key => ({ pk: `KEY#${secretHash}`, sk: "KEY" }),
  apiKeyUse: (organizationId: string, keyId: string): Key => ({
    pk: `KEY_USES#${organizationId}`,
    sk: keyId,
  }),
  wallet: (organizationId: string): Key => ({ pk: `WALLET#${organizationId}`, sk: "WALLET" }),
  walletListing: (shard: number, organizationId: string): Key => ({
    pk: `WALLETS#${shard}`,
    sk: organizationId,
  }),
  reference: (referenceHash: string): Key => ({ pk: `REFERENCE#${referenceHash}`, sk: "REFERENCE" }),
  ledgerEntry: (organizationId: string, seq: number, part = ""): Key => ({
    pk: ledgerPartition(organizationId, part),
    sk: ledgerSortKey(seq),
  }),
  message: (organizationId: string, messageId: string): Key => ({
    pk: messagesPartition(organizationId, partOf(messageId)),
    sk: messageId,
  }),
  dayCounts: (organizationId: string, day: string, part = ""): Key => ({
    pk: `STATS#${organizationId}${behindHash(part)}`,
    sk: `DAY#${day}`,
  }),
  campaignCounts: (organizationId: string, campaignId: string): Key => ({
    pk: `STATS#${organizationId}`,
    sk: `CAMPAIGN#${campaignId}`,
  }),
  contact: (organizationId: string, contactId: string): Key => ({
    pk: `CONTACTS#${organizationId}`,
    sk: contactId,
  }),
  contactOfNumber: (organizationId: string, phoneNumber: string): Key => ({
    pk: `CONTACTS#${organizationId}`,
    sk: `PHONE#${phoneNumber}`,
  }),
  optOut: (organizationId: string, phoneNumber: string): Key => ({
    pk: `OPT_OUTS#${organizationId}`,
    sk: phoneNumber,
  }),
  inbound: (organizationId: string, inboundId: string): Key => ({
    pk: `INBOUND#${organizationId}`,
    sk: inboundId,
  }),
  number: (number: string): Key => ({ pk: "NUMBERS#all", sk: number }),
  template: (organizationId: string, templateId: string): Key => ({
    pk: `TEMPLATES#${organizationId}`,
    sk: templateId,
  }),
  campaign: (organizationId: string, campaignId: string): Key => ({
    pk: `CAMPAIGNS#${organizationId}`,
    sk: campaignId,
  }),
  review: (kind: ReviewKind, id: string): Key => ({ pk: `REVIEWS#${kind}`, sk: id }),
  idempotency: (organizationId: string, keyHash: string): Key => ({
    pk: `IDEMPOTENCY#${organizationId}#${keyHash}`,
    sk: "IDEMPOTENCY",
  }),
  webhookDelivery: (webhookId: string, deliveryId: string): Key => ({
    pk: `DELIVERIES#${webhookId}`,
    sk: deliveryId,
  }),
  openCalls: (whom: string): Key => ({ pk: `OPENCALLS#${whom}`, sk: "OPENCALLS" }),
  dueJob: (bucket: string, dueAt: string, id: string): Key => ({ pk: `DUE#${bucket}`, sk: `${dueAt}#${id}` }),
  release: (shard: number): Key => ({ pk: "RELEASE#due-jobs", sk: `RELEASE#${shard}` }),
  auditEntry: (auditLog: string, entryId: string): Key => ({ pk: `AUDIT#${auditLog}`, sk: entryId }),
  auditOutcome: (auditLog: string, entryId: string): Key => ({
    pk: `AUDIT#${auditLog}#outcomes`,
    sk: entryId,
  }),
  currentRateCard: (): Key => ({ pk: "PRICES#card", sk: "CURRENT" }),
  rateCard: (version: number): Key => ({ pk: "PRICES#card", sk: `VERSION#${inTextOrder(version)}` }),
  rateCardChunk: (version: number, index: number): Key => ({
    pk: `PRICES#card#${version}`,
    sk: inTextOrder(index),
  }),
  priceOverrides: (organizationId: string): Key => ({ pk: `PRICES#${organizationId}`, sk: "OVERRIDES" }),
  margins: (day: string, organizationId: string, part = ""): Key => ({
    pk: `MARGINS#${day}`,
    sk: `${organizationId}${behindHash(part)}`,
  }),
  sealingKey: (kind: SealedKind): Key => ({ pk: "SEALING_KEYS#all", sk: kind }),
  sending: (): Key => ({ pk: "SENDING#all", sk: "SENDING" }),
  carrier: (name: string): Key => ({ pk: "CARRIERS#all", sk: `CARRIER#${name}` }),
  route: (prefix: string, messageType: string): Key => ({
    pk: "CARRIERS#all",
    sk: `ROUTE#${prefix}#${messageType}`,
  }),
  breaker: (carrier: string): Key => ({ pk: "BREAKERS#all", sk: carrier }),
  pace: (carrier: string): Key => ({ pk: `PACE#${carrier}`, sk: "PACE" }),
  limit: (what: string, whom: string): Key => ({ pk: `LIMIT#${what}#${whom}`, sk: "LIMIT" }),
  sandboxMessage: (messageId: string): Key => ({ pk: `SANDBOX#${messageId}`, sk: "SANDBOX" }),
};

/** The parts that so many are: the first has no name. */
export function partNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? "" : String(index)));
}

/** The part that a message is in, by the digit behind the ULID of its id. */
export function partOf(messageId: string): string {
  return messageId.slice("msg_".length + ulidLength);
}

const ulidLength = 26;

/** The partition key of a part of an organisation's messages. */
export function messagesPartition(organizationId: string, part: string): string {
  return `MESSAGES#${organizationId}${behindHash(part)}`;
}

/** The partition key of a part of an organisation's ledger. */
export function ledgerPartition(organizationId: string, part: string): string {
  return `LEDGER#${organizationId}${behindHash(part)}`;
}

function behindHash(part: string): string {
  return part === "" ? "" : `#${part}`;
}

/** A seq as a sort key. */
export function ledgerSortKey(seq: number): string {
  return inTextOrder(seq);
}

/** A number as text that is padded, so that text order is number order up to the largest safe integer. */
function inTextOrder(number: number): string {
  return String(number).padStart(16, "0");
}

/** The index of what background work has to look at. It has the keys of the items alone. */
export const agendaIndex = { name: "agenda", partitionKey: "agenda", sortKey: "lookAt" } as const;
