import { isTestId } from "../ids.ts";
import type { EntityName } from "./entities.ts";

/**
 * The keys of the one table, by access pattern.
 *
 * ```
 * | access pattern                                   | pk                  | sk            |
 * | ------------------------------------------------ | ------------------- | ------------- |
 * | an organization                                  | ORG#<org>           | ORG           |
 * | an organization's API keys, or one by its id     | ORG#<org>           | KEY#<key>     |
 * | an organization's webhooks, or one by its id     | ORG#<org>           | WEBHOOK#<whk> |
 * | the secrets that sign the calls to an endpoint   | WEBHOOK_SECRETS#<org> | <whk>       |
 * | an organization's owner, verified email and KYC approval | RIGHTS#<org> | RIGHTS |
 * | an organization's KYC submission                 | KYC#<org>           | KYC           |
 * | an organization's sender IDs, or one by its name | ORG#<org>           | SENDER-ID#<lower-case name> |
 * | the organizations with approval for a sender ID  | SENDER#<upper-case name> | SENDER |
 * | an organization's verification profiles, or one by its name | ORG#<org> | VERIFY-PROFILE#<name> |
 * | a user                                           | USER#<user>         | USER          |
 * | the members of an organization                   | MEMBERS#<org>       | <user>        |
 * | the invitation of an email; keeps it unique      | MEMBERS#<org>      | EMAIL#<sha-256> |
 * | an invitation, by its future user                | INVITATION#<user>   | INVITATION    |
 * | the hash of a user's password                    | CREDENTIALS#<user>  | PASSWORD      |
 * | the secret of a user's authenticator app         | CREDENTIALS#<user>  | SECOND_FACTOR |
 * | a user's sessions in order, or one               | SESSIONS#<user>     | <session>     |
 * | the last uses of a user's sessions               | SESSION_USES#<user> | <session>     |
 * | the user who owns an email; keeps emails unique  | EMAIL#<email>       | EMAIL         |
 * | the newest link that a user received for one purpose | EMAIL_TOKEN#<user> | <purpose> |
 * | the sending of an email                          | SENT_EMAIL#<email>  | SENT_EMAIL    |
 * | the suppression of emails to an address          | EMAIL_SUPPRESSION#<sha-256> | EMAIL_SUPPRESSION |
 * | a network that a user has logged in from         | KNOWN_NETWORK#<sha-256> | KNOWN_NETWORK |
 * | the owner of an API key                          | KEY#<sha-256>       | KEY           |
 * | the last uses of an organization's API keys      | KEY_USES#<org>      | <key>         |
 * | the balance, and the messages accepted today     | WALLET#<org>        | WALLET        |
 * | the list of all wallets                          | WALLETS#<shard>     | <org>         |
 * | the movement of money that a reference was used for | REFERENCE#<sha-256> | REFERENCE  |
 * | an organization's payments in order, or one      | PAYMENTS#<org>      | <payment>     |
 * | an organization's billing details, and its auto-recharge | BILLING#<org> | BILLING    |
 * | an organization's invoices and credit notes, or one | INVOICES#<org>   | <number>      |
 * | the next number of an invoice or credit note     | INVOICE_NUMBERS#<kind>#<year> | NEXT |
 * | the closed books of a month: the totals, and each organization | BOOKS#<yyyy-mm> | TOTAL, <org>, <org>#<chunk> |
 * | their closing while it runs, and the sum of a long ledger so far | BOOKS#<yyyy-mm> | CLOSING, SUM#<org> |
 * | the ledger in order; one entry for each seq      | LEDGER#<org>, LEDGER#<org>#<shard> | <seq> |
 * | an organization's messages in order, or one      | MESSAGES#<org>, MESSAGES#<org>#<shard> | <message> |
 * | messages of one day by their state               | STATS#<org>, STATS#<org>#<shard> | DAY#<yyyy-mm-dd> |
 * | its messages of a day, by the ends of their numbers | SENT_TO#<org>, SENT_TO#<org>#<shard> | <0 to 2 digits>#<yyyy-mm-dd>#<position> |
 * | an organization's usage in a day                 | STATS#<org>, STATS#<org>#<shard> | USAGE#<yyyy-mm-dd> |
 * | the notices to the operators on a day            | OPERATORS#<yyyy-mm-dd> | <what>#<org>#<country or payment> |
 * | messages of one campaign by their state          | STATS#<org>         | CAMPAIGN#<cmp> |
 * | an organization's test messages in order, or one | MESSAGES#test#<org> | <message>     |
 * | an organization's held messages in order, or one | HELD#<org>          | <held message> |
 * | an organization's verifications in order, or one | VERIFICATIONS#<org>, VERIFICATIONS#test#<org> | <verification> |
 * | the last verification of a number                | VERIFYING#<test# or own#><org>#<profile> | <number> |
 * | the newest starts of a range, address or device, and the counts of a country | GUARD#<org> | RANGE#<prefix>, ADDRESS#<sha-256>, DEVICE#<sha-256>, COUNTRY#<country>#<yyyy-mm-ddThh:m> |
 * | an organization's contacts in order, or one      | CONTACTS#<org>      | <contact>     |
 * | the contact that has a number; keeps it unique   | CONTACTS#<org>      | PHONE#<number>|
 * | the opt-outs from an organization's marketing    | OPT_OUTS#<org> | <number> |
 * | an organization's inbound messages, in order     | INBOUND#<org> | <inbound> |
 * | an organization's inbound test messages, in order | INBOUND#test#<org> | <inbound>    |
 * | an organization's conversations, or one          | CONVERSATIONS#<org>, CONVERSATIONS#test#<org> | <conversation> |
 * | the messages of a conversation, in order         | the same            | <conversation>#<time and id> |
 * | the order of conversations                       | the same            | PLACE#<last inbound> |
 * | an accepted inbound message, by the carrier's id | INBOUND#<org> | TAKEN#<sha-256> |
 * | an erased number, by its digest                  | INBOUND#<org>       | ERASED#<sha-256> |
 * | the organization that has a number               | NUMBERS#all         | <number>      |
 * | an export of an organization's rows              | EXPORTS#<org>       | <export>      |
 * | a part of it                                     | EXPORTS#<org>       | <export>#<part> |
 * | an organization's templates in order, or one     | TEMPLATES#<org>     | <template>    |
 * | an organization's campaigns in order, or one     | CAMPAIGNS#<org>     | <campaign>    |
 * | contacts that a block of a campaign skipped      | STATS#<org>         | SKIPPED#<cmp>#<position> |
 * | numbers that a block of a campaign reached       | STATS#<org>         | REACHED#<cmp>#<position before it> |
 * | a request that waits for an operator's decision  | REVIEWS#<kind>      | <id>          |
 * | the response to an idempotent request            | IDEMPOTENCY#<org>#<sha-256> | IDEMPOTENCY |
 * | the results of messages of a batch               | IDEMPOTENCY#<org>#<batch> | BLOCK#<index of the first> |
 * | an endpoint's webhook deliveries, or one by its id | DELIVERIES#<whk>  | <delivery>    |
 * | the in-flight calls to an endpoint, or to a host for one organization | INFLIGHT#<whk>, INFLIGHT#<org>#<host> | INFLIGHT |
 * | jobs that fall due in one minute                 | DUE#<minute>#<shard>| <dueAt>#<id>  |
 * | the progress of a shard's scheduled jobs         | RELEASE#due-jobs    | RELEASE#<shard> |
 * | a movement of money that waits for a second operator | APPROVALS#all    | <approval>    |
 * | the actions in an organization, or on the stage  | AUDIT#<org>, AUDIT#stage | <entry>    |
 * | the outcomes of these actions                    | AUDIT#<org>#outcomes, AUDIT#stage#outcomes | <entry> |
 * | the seals of these entries, in order              | SEALS#<org>, SEALS#stage | <seq>      |
 * | the current version of the rate card             | PRICES#card         | CURRENT       |
 * | a version of the rate card                       | PRICES#card         | VERSION#<version> |
 * | the content of a version                         | PRICES#card#<version> | <chunk>     |
 * | the prices of one organization                   | PRICES#<org>        | OVERRIDES     |
 * | the blocked destinations                         | PRICES#blocked      | <prefix>#<org, or all> |
 * | the destinations with a daily limit              | PRICES#blocked      | <prefix>#<org, or all>#DAILY |
 * | the revenue and cost of an organization in a day | MARGINS#<yyyy-mm-dd> | <org>#<shard> |
 * | the key of the newest sealed texts of a kind     | SEALING_KEYS#all    | <kind>        |
 * | the pause of all sending, or of all payments     | SENDING#all         | SENDING, PAYMENTS |
 * | all carriers and the routes to them, or one      | CARRIERS#all        | CARRIER#<name>, ROUTE#<prefix>#<message type> |
 * | the circuit breakers of the carriers             | BREAKERS#all        | <carrier>     |
 * | the throughput of a carrier: its next free time  | PACE#<carrier>      | PACE          |
 * | the uses that count against a limit              | LIMIT#<what>#<whom> | LIMIT         |
 * | what arrives, by slots of five minutes           | ARRIVALS#<yyyy-mm-dd> | <hh:mm>#<carrier>#<country>#<traffic class> |
 * | a message that the sandbox carrier accepted      | SANDBOX#<message>   | SANDBOX       |
 * ```
 *
 * One partition accepts 1,000 write units a second, so an organization's wallet, ledger, messages and counters have separate
 * partitions. The list has the write units of a message, sent alone / in a campaign, and the messages a second that follow:
 *
 * - WALLET: 1 / 0.02, so 1,000 / 48,000
 * - LEDGER: 1 / 2, so 1,000 / 500
 * - MESSAGES: 3 / 4, so 330 / 250
 * - STATS: 1.1 to 2 / 0.2 to 2, so 500 or more
 *
 * All except the wallet can be in up to eight shards of that capacity (`shards.ts`). `infra/SCALE.md` has the arithmetic.
 */
export interface Key<Name extends EntityName = EntityName> {
  readonly pk: string;
  readonly sk: string;
  /** The kind of the item. It exists for the compiler only. */
  readonly [entityName]?: Name;
}

declare const entityName: unique symbol;

/** The kinds of requests that an operator decides on. */
export type ReviewKind = "kyc" | "sender-ids";

/** The work that an operator can pause for the whole stage. */
export type Pausable = "payments" | "sending";

/** The kinds of sealed texts in the table. Each has a key of its own. */
export type SealedKind = "secondFactors" | "webhooks";

export const keys = {
  organization: (organizationId: string) => at<"organization">(`ORG#${organizationId}`, "ORG"),
  apiKeyOfOrganization: (organizationId: string, keyId: string) =>
    at<"apiKeyOfOrganization">(`ORG#${organizationId}`, `KEY#${keyId}`),
  webhook: (organizationId: string, webhookId: string) =>
    at<"webhook">(`ORG#${organizationId}`, `WEBHOOK#${webhookId}`),
  webhookSecrets: (organizationId: string, webhookId: string) =>
    at<"webhookSecrets">(`WEBHOOK_SECRETS#${organizationId}`, webhookId),
  rights: (organizationId: string) => at<"rights">(`RIGHTS#${organizationId}`, "RIGHTS"),
  kyc: (organizationId: string) => at<"kyc">(`KYC#${organizationId}`, "KYC"),
  senderId: (organizationId: string, senderId: string) =>
    at<"senderId">(`ORG#${organizationId}`, `SENDER-ID#${senderId.toLowerCase()}`),
  senderName: (senderId: string) => at<"senderName">(`SENDER#${senderId.toUpperCase()}`, "SENDER"),
  verificationProfile: (organizationId: string, name: string) =>
    at<"verificationProfile">(`ORG#${organizationId}`, `VERIFY-PROFILE#${name}`),
  user: (userId: string) => at<"user">(`USER#${userId}`, "USER"),
  member: (organizationId: string, userId: string) => at<"member">(`MEMBERS#${organizationId}`, userId),
  invitedEmail: (organizationId: string, emailHash: string) =>
    at<"invitedEmail">(`MEMBERS#${organizationId}`, `EMAIL#${emailHash}`),
  invitation: (userId: string) => at<"invitation">(`INVITATION#${userId}`, "INVITATION"),
  password: (userId: string) => at<"password">(`CREDENTIALS#${userId}`, "PASSWORD"),
  secondFactor: (userId: string) => at<"secondFactor">(`CREDENTIALS#${userId}`, "SECOND_FACTOR"),
  session: (userId: string, sessionId: string) => at<"session">(`SESSIONS#${userId}`, sessionId),
  sessionUse: (userId: string, sessionId: string) => at<"sessionUse">(`SESSION_USES#${userId}`, sessionId),
  email: (email: string) => at<"email">(`EMAIL#${email}`, "EMAIL"),
  emailSuppression: (hash: string) =>
    at<"emailSuppression">(`EMAIL_SUPPRESSION#${hash}`, "EMAIL_SUPPRESSION"),
  emailToken: (userId: string, purpose: string) => at<"emailToken">(`EMAIL_TOKEN#${userId}`, purpose),
  sentEmail: (emailId: string) => at<"sentEmail">(`SENT_EMAIL#${emailId}`, "SENT_EMAIL"),
  knownNetwork: (hash: string) => at<"knownNetwork">(`KNOWN_NETWORK#${hash}`, "KNOWN_NETWORK"),
  apiKey: (secretHash: string) => at<"apiKey">(`KEY#${secretHash}`, "KEY"),
  apiKeyUse: (organizationId: string, keyId: string) => at<"apiKeyUse">(`KEY_USES#${organizationId}`, keyId),
  wallet: (organizationId: string) => at<"wallet">(`WALLET#${organizationId}`, "WALLET"),
  walletListing: (shard: number, organizationId: string) =>
    at<"walletListing">(`WALLETS#${shard}`, organizationId),
  payment: (organizationId: string, paymentId: string) =>
    at<"payment">(`PAYMENTS#${organizationId}`, paymentId),
  billing: (organizationId: string) => at<"billing">(`BILLING#${organizationId}`, "BILLING"),
  invoice: (organizationId: string, number: string) => at<"invoice">(`INVOICES#${organizationId}`, number),
  invoiceNumber: (kind: string, year: string) =>
    at<"invoiceNumber">(`INVOICE_NUMBERS#${kind}#${year}`, "NEXT"),
  books: (month: string, organizationId: string) => at<"books">(`BOOKS#${month}`, organizationId),
  bookLines: (month: string, organizationId: string, start: number) =>
    at<"bookLines">(`BOOKS#${month}`, `${organizationId}#${String(start).padStart(8, "0")}`),
  booksTotal: (month: string) => at<"booksTotal">(`BOOKS#${month}`, "TOTAL"),
  booksClosing: (month: string) => at<"booksClosing">(`BOOKS#${month}`, "CLOSING"),
  ledgerSum: (month: string, organizationId: string) =>
    at<"ledgerSum">(`BOOKS#${month}`, `SUM#${organizationId}`),
  reference: (referenceHash: string) => at<"reference">(`REFERENCE#${referenceHash}`, "REFERENCE"),
  sentTo: (numbers: string, digits: string, day: string, position: string) =>
    at<"sentTo">(numbers, `${digits}#${day}#${position}`),
  operatorNotice: (day: string, name: string) => at<"operatorNotice">(`OPERATORS#${day}`, name),
  spendSoFar: (organizationId: string, day: string) => at<"spendSoFar">(`OPERATORS#${organizationId}`, day),
  campaignCounts: (organizationId: string, campaignId: string) =>
    at<"counts">(`STATS#${organizationId}`, `CAMPAIGN#${campaignId}`),
  skippedContacts: (organizationId: string, campaignId: string, position: string) =>
    at<"skippedContacts">(`STATS#${organizationId}`, `SKIPPED#${campaignId}#${position}`),
  reachedNumbers: (organizationId: string, campaignId: string, position: string) =>
    at<"reachedNumbers">(`STATS#${organizationId}`, `REACHED#${campaignId}#${position}`),
  contact: (organizationId: string, contactId: string) =>
    at<"contact">(`CONTACTS#${organizationId}`, contactId),
  contactOfNumber: (organizationId: string, phoneNumber: string) =>
    at<"contactOfNumber">(`CONTACTS#${organizationId}`, `PHONE#${phoneNumber}`),
  optOut: (organizationId: string, phoneNumber: string) =>
    at<"optOut">(`OPT_OUTS#${organizationId}`, phoneNumber),
  heldMessage: (organizationId: string, heldId: string) =>
    at<"heldMessage">(`HELD#${organizationId}`, heldId),
  verification: (organizationId: string, id: string) =>
    at<"verification">(`VERIFICATIONS#${isTestId(id) ? "test#" : ""}${organizationId}`, id),
  testVerifications: (organizationId: string): string => `VERIFICATIONS#test#${organizationId}`,
  /** @param marks see `pointerKey` of verifications */
  verifying: (organizationId: string, profile: string, number: string, marks = "") =>
    at<"verifying">(`VERIFYING#${marks}${organizationId}#${profile}`, number),
  recentStarts: (organizationId: string, name: string) => at<"recentStarts">(`GUARD#${organizationId}`, name),
  conversion: (organizationId: string, name: string) => at<"conversion">(`GUARD#${organizationId}`, name),
  inbound: (organizationId: string, inboundId: string) =>
    at<"inbound">(`INBOUND#${isTestId(inboundId) ? "test#" : ""}${organizationId}`, inboundId),
  testInbound: (organizationId: string): string => `INBOUND#test#${organizationId}`,
  conversation: (organizationId: string, conversationId: string) =>
    at<"conversation">(conversationsOf(organizationId, conversationId), conversationId),
  testConversations: (organizationId: string): string => `CONVERSATIONS#test#${organizationId}`,
  /** The entries have the order of the moments in the ids of their messages. */
  conversationEntry: (organizationId: string, conversationId: string, id: string) =>
    at<"conversationEntry">(
      conversationsOf(organizationId, conversationId),
      `${conversationId}#${id.slice(id.indexOf("_") + 1)}`,
    ),
  conversationPlace: (organizationId: string, conversationId: string, lastInboundId: string) =>
    at<"conversationPlace">(conversationsOf(organizationId, conversationId), `PLACE#${lastInboundId}`),
  number: (number: string) => at<"number">("NUMBERS#all", number),
  export: (organizationId: string, exportId: string) => at<"export">(`EXPORTS#${organizationId}`, exportId),
  exportPart: (organizationId: string, exportId: string, part: number) =>
    at<"exportPart">(`EXPORTS#${organizationId}`, `${exportId}#${part}`),
  template: (organizationId: string, templateId: string) =>
    at<"template">(`TEMPLATES#${organizationId}`, templateId),
  campaign: (organizationId: string, campaignId: string) =>
    at<"campaign">(`CAMPAIGNS#${organizationId}`, campaignId),
  review: (kind: ReviewKind, id: string) => at<"review">(`REVIEWS#${kind}`, id),
  idempotency: (organizationId: string, keyHash: string) =>
    at<"idempotency">(`IDEMPOTENCY#${organizationId}#${keyHash}`, "IDEMPOTENCY"),
  batchBlock: (organizationId: string, batchId: string, start: number) =>
    at<"batchBlock">(`IDEMPOTENCY#${organizationId}#${batchId}`, `BLOCK#${start}`),
  webhookDelivery: (webhookId: string, deliveryId: string) =>
    at<"webhookDelivery">(`DELIVERIES#${webhookId}`, deliveryId),
  inFlightCalls: (whom: string) => at<"inFlightCalls">(`INFLIGHT#${whom}`, "INFLIGHT"),
  scheduledJob: (bucket: string, dueAt: string, id: string) =>
    at<"scheduledJob">(`DUE#${bucket}`, `${dueAt}#${id}`),
  release: (shard: number) => at<"release">("RELEASE#due-jobs", `RELEASE#${shard}`),
  approval: (approvalId: string) => at<"approval">("APPROVALS#all", approvalId),
  auditEntry: (auditLog: string, entryId: string) => at<"auditEntry">(`AUDIT#${auditLog}`, entryId),
  auditOutcome: (auditLog: string, entryId: string) =>
    at<"auditOutcome">(`AUDIT#${auditLog}#outcomes`, entryId),
  seal: (auditLog: string, seq: number) => at<"seal">(`SEALS#${auditLog}`, inTextOrder(seq)),
  currentRateCard: () => at<"currentRateCard">("PRICES#card", "CURRENT"),
  rateCard: (version: number) => at<"rateCard">("PRICES#card", `VERSION#${inTextOrder(version)}`),
  rateCardChunk: (version: number, index: number) =>
    at<"rateCardChunk">(`PRICES#card#${version}`, inTextOrder(index)),
  priceOverrides: (organizationId: string) => at<"priceOverrides">(`PRICES#${organizationId}`, "OVERRIDES"),
  blockedDestination: (prefix: string, organizationId = "all") =>
    at<"blockedDestination">("PRICES#blocked", `${prefix}#${organizationId}`),
  limitedDestination: (prefix: string, organizationId = "all") =>
    at<"blockedDestination">("PRICES#blocked", `${prefix}#${organizationId}#DAILY`),
  sealingKey: (kind: SealedKind) => at<"sealingKey">("SEALING_KEYS#all", kind),
  pause: (what: Pausable) => at<"pause">("SENDING#all", what.toUpperCase()),
  carrier: (name: string) => at<"carrier">("CARRIERS#all", `CARRIER#${name}`),
  route: (prefix: string, messageType: string) =>
    at<"route">("CARRIERS#all", `ROUTE#${prefix}#${messageType}`),
  breaker: (carrier: string) => at<"breaker">("BREAKERS#all", carrier),
  pace: (carrier: string) => at<"pace">(`PACE#${carrier}`, "PACE"),
  uses: (what: string, whom: string): Key<"uses"> => limit(what, whom),
  usesOfDay: (what: string, whom: string): Key<"usesOfDay"> => limit(what, whom),
  requests: (organizationId: string, window: number): Key<"requests"> =>
    limit("requests", `${organizationId}#${window}`),
  /**
   * @param slot the day, or the slot of the kind: `2026-03-01T09:35`
   * @param partition absent for the figures of 0.4.0
   */
  arrivals: (slot: string, kind = "", partition?: number) => {
    const [day = "", time = ""] = slot.split("T");
    const pk = partition === undefined ? `ARRIVALS#${day}` : `ARRIVALS#${day}#${partition}`;
    return at<"arrivals">(pk, `${time}#${kind}`);
  },
  sandboxMessage: (messageId: string) => at<"sandboxMessage">(`SANDBOX#${messageId}`, "SANDBOX"),
};

function conversationsOf(organizationId: string, conversationId: string): string {
  return `CONVERSATIONS#${isTestId(conversationId) ? "test#" : ""}${organizationId}`;
}

function at<Name extends EntityName>(pk: string, sk: string): Key<Name> {
  return { pk, sk };
}

function limit(what: string, whom: string): { readonly pk: string; readonly sk: string } {
  return { pk: `LIMIT#${what}#${whom}`, sk: "LIMIT" };
}

/** Returns a seq as a sort key. */
export function ledgerSortKey(seq: number): string {
  return inTextOrder(seq);
}

/** Returns a number as padded text, whose order is that of the numbers up to the largest safe integer. */
function inTextOrder(number: number): string {
  return String(number).padStart(16, "0");
}
