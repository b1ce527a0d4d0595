import type { KnownNetworkRecord } from "./accounts/passwords/known-networks.ts";
import type { PasswordRecord } from "./accounts/passwords/record.ts";
import type { SecondFactorRecord } from "./accounts/second-factor/record.ts";
import type { SessionRecord, SessionUseRecord } from "./accounts/sessions/record.ts";
import type { ReachedNumbers } from "./audience/campaigns/reached.ts";
import type { CampaignRecord } from "./audience/campaigns/record.ts";
import type { SkippedContacts } from "./audience/campaigns/skipped.ts";
import type { ContactRecord, NumberRecord as ContactOfNumberRecord } from "./audience/contacts/record.ts";
import type { TemplateRecord } from "./audience/templates/record.ts";
import type { BreakerRecord } from "./carriers/breaker.ts";
import type { CarrierRecord, RouteRecord } from "./carriers/record.ts";
import type { SandboxRecord } from "./carriers/sandbox.ts";
import type { ThroughputRecord } from "./carriers/throughput.ts";
import type { BooksClosing } from "./figures/books/closing.ts";
import type { LedgerSumRecord } from "./figures/books/movements.ts";
import type { PaymentLinesRecord, BooksRecord, BooksTotal } from "./figures/books/record.ts";
import type { ExportPartRecord, ExportRecord } from "./figures/exports/record.ts";
import type { OperatorNoticeRecord } from "./figures/operators/record.ts";
import type { BatchBlock } from "./messages/accept/batch-block.ts";
import type { HeldMessageRecord } from "./messages/accept/held.ts";
import type { ArrivalsRecord } from "./messages/counts/arrivals.ts";
import type { CountsRecord } from "./messages/counts/counts.ts";
import type { MarginsRecord, UsageRecord } from "./messages/counts/figures.ts";
import type { SentToRecord } from "./messages/counts/number-index.ts";
import type {
  ConversationEntry,
  ConversationPlace,
  ConversationRecord,
} from "./messages/inbound/conversations.ts";
import type { ErasedNumber } from "./messages/inbound/erased.ts";
import type { InboundRecord, TakenRecord } from "./messages/inbound/record.ts";
import type { MessageRecord } from "./messages/message/record.ts";
import type { NumberRecord } from "./messages/numbers/record.ts";
import type { OptOutRecord } from "./messages/opt-outs/record.ts";
import type { SenderNameRecord } from "./messages/sender-ids/names.ts";
import type { SenderIdRecord } from "./messages/sender-ids/record.ts";
import type { DocumentRecord, NumberRecord as InvoiceNumberRecord } from "./money/invoices/record.ts";
import type { BillingRecord } from "./money/payments/billing-record.ts";
import type { PaymentRecord } from "./money/payments/record.ts";
import type { BlockedDestination } from "./money/prices/blocked-destinations.ts";
import type { PriceOverridesRecord } from "./money/prices/overrides.ts";
import type { CurrentCardRecord, RateCardRecord, ChunkRecord } from "./money/prices/record.ts";
import type { LedgerEntryRecord } from "./money/wallet/ledger.ts";
import type { WalletRecord, ListingRecord } from "./money/wallet/record.ts";
import type { ReferenceRecord } from "./money/wallet/reference.ts";
import type { SentEmailRecord } from "./notices/emails/sent-record.ts";
import type { SuppressionRecord } from "./notices/emails/suppression-record.ts";
import type { ApiKeyUseRecord } from "./platform/auth/api-key-use.ts";
import type { SealingKeyRecord } from "./platform/auth/sealing-key-record.ts";
import type { IdempotencyRecord } from "./platform/http/idempotency.ts";
import type { CountedRequests } from "./platform/http/request-rate.ts";
import type { PauseRecord } from "./platform/jobs/pause.ts";
import type { ScheduledJobRecord } from "./platform/jobs/scheduled-job.ts";
import type { ReleaseRecord } from "./platform/jobs/scheduler.ts";
import type { CountedUses } from "./platform/limits/daily.ts";
import type { Uses } from "./platform/limits/sliding-window.ts";
import type { AuditEntryRecord, AuditOutcomeRecord } from "./platform/table/audit-log.ts";
import type { CredentialRecord, ApiKeyRecord } from "./tenancy/api-keys/record.ts";
import type { ApprovalRecord } from "./tenancy/approvals.ts";
import type { SealRecord } from "./tenancy/audit-log/seals.ts";
import type { KycRecord } from "./tenancy/kyc/record.ts";
import type {
  InvitationRecord,
  MembershipRecord,
  RoleOfMember,
} from "./tenancy/organizations/member-record.ts";
import type { StoredOrganization } from "./tenancy/organizations/record.ts";
import type { RightsRecord } from "./tenancy/organizations/rights-record.ts";
import type { ReviewRecord } from "./tenancy/reviews.ts";
import type { EmailTokenRecord } from "./tenancy/users/email-tokens.ts";
import type { EmailRecord, UserRecord } from "./tenancy/users/record.ts";
import type { Conversion, RecentStarts } from "./verifications/guard/rules.ts";
import type { VerificationProfileRecord } from "./verifications/profiles.ts";
import type { VerificationRecord, VerifyingRecord } from "./verifications/record.ts";
import type { DeliveryRecord } from "./webhooks/delivery-record.ts";
import type { InFlightCallsRecord } from "./webhooks/in-flight-calls.ts";
import type { WebhookRecord } from "./webhooks/record.ts";
import type { WebhookSecretRecord } from "./webhooks/secrets.ts";

/**
 * The schema of each kind of item in the table, by the name that its key has in `platform/table/keys.ts`. The table layer
 * types reads and writes by it, and imports no business code.
 */
declare module "./platform/table/entities.ts" {
  interface Entities {
    apiKey: typeof CredentialRecord;
    apiKeyOfOrganization: typeof ApiKeyRecord;
    apiKeyUse: typeof ApiKeyUseRecord;
    approval: typeof ApprovalRecord;
    arrivals: typeof ArrivalsRecord;
    auditEntry: typeof AuditEntryRecord;
    auditOutcome: typeof AuditOutcomeRecord;
    batchBlock: typeof BatchBlock;
    billing: typeof BillingRecord;
    blockedDestination: typeof BlockedDestination;
    bookLines: typeof PaymentLinesRecord;
    books: typeof BooksRecord;
    booksClosing: typeof BooksClosing;
    booksTotal: typeof BooksTotal;
    breaker: typeof BreakerRecord;
    campaign: typeof CampaignRecord;
    carrier: typeof CarrierRecord;
    contact: typeof ContactRecord;
    contactOfNumber: typeof ContactOfNumberRecord;
    conversation: typeof ConversationRecord;
    conversationEntry: typeof ConversationEntry;
    conversationPlace: typeof ConversationPlace;
    conversion: typeof Conversion;
    counts: typeof CountsRecord;
    currentRateCard: typeof CurrentCardRecord;
    email: typeof EmailRecord;
    emailSuppression: typeof SuppressionRecord;
    emailToken: typeof EmailTokenRecord;
    erasedNumber: typeof ErasedNumber;
    export: typeof ExportRecord;
    exportPart: typeof ExportPartRecord;
    heldMessage: typeof HeldMessageRecord;
    idempotency: typeof IdempotencyRecord;
    inFlightCalls: typeof InFlightCallsRecord;
    inbound: typeof InboundRecord;
    inboundMark: typeof TakenRecord;
    invitation: typeof InvitationRecord;
    invitedEmail: typeof MembershipRecord;
    invoice: typeof DocumentRecord;
    invoiceNumber: typeof InvoiceNumberRecord;
    knownNetwork: typeof KnownNetworkRecord;
    kyc: typeof KycRecord;
    ledgerEntry: typeof LedgerEntryRecord;
    ledgerSum: typeof LedgerSumRecord;
    margins: typeof MarginsRecord;
    member: typeof RoleOfMember;
    message: typeof MessageRecord;
    number: typeof NumberRecord;
    operatorNotice: typeof OperatorNoticeRecord;
    optOut: typeof OptOutRecord;
    organization: typeof StoredOrganization;
    pace: typeof ThroughputRecord;
    password: typeof PasswordRecord;
    pause: typeof PauseRecord;
    payment: typeof PaymentRecord;
    priceOverrides: typeof PriceOverridesRecord;
    rateCard: typeof RateCardRecord;
    rateCardChunk: typeof ChunkRecord;
    reachedNumbers: typeof ReachedNumbers;
    recentStarts: typeof RecentStarts;
    reference: typeof ReferenceRecord;
    release: typeof ReleaseRecord;
    requests: typeof CountedRequests;
    review: typeof ReviewRecord;
    rights: typeof RightsRecord;
    route: typeof RouteRecord;
    sandboxMessage: typeof SandboxRecord;
    scheduledJob: typeof ScheduledJobRecord;
    sealingKey: typeof SealingKeyRecord;
    seal: typeof SealRecord;
    secondFactor: typeof SecondFactorRecord;
    senderId: typeof SenderIdRecord;
    senderName: typeof SenderNameRecord;
    sentEmail: typeof SentEmailRecord;
    sentTo: typeof SentToRecord;
    session: typeof SessionRecord;
    sessionUse: typeof SessionUseRecord;
    skippedContacts: typeof SkippedContacts;
    template: typeof TemplateRecord;
    usage: typeof UsageRecord;
    user: typeof UserRecord;
    uses: typeof Uses;
    usesOfDay: typeof CountedUses;
    verification: typeof VerificationRecord;
    verificationProfile: typeof VerificationProfileRecord;
    verifying: typeof VerifyingRecord;
    wallet: typeof WalletRecord;
    walletListing: typeof ListingRecord;
    webhook: typeof WebhookRecord;
    webhookDelivery: typeof DeliveryRecord;
    webhookSecrets: typeof WebhookSecretRecord;
  }
}
