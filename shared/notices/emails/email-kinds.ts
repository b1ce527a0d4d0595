import * as z from "zod/mini";

import { Role } from "../../api/contract/scopes.ts";

/** The id of an email. An email is sent once, even if its job is delivered repeatedly. */
const id = z.string();

/** Requests verification of an email address. */
const VerificationJob = z.object({ kind: z.literal("verification"), id, userId: z.string() });

/** A request for a new password. Only the worker that sends the email checks whether the account exists. */
const PasswordResetJob = z.object({
  kind: z.literal("passwordReset"),
  id,
  email: z.string(),
  /** Whether the account was logged into from the network of the request. */
  isFromKnownNetwork: z.optional(z.boolean()),
});

/** A notice that the password of a user was changed. */
const PasswordChangedJob = z.object({
  kind: z.literal("passwordChanged"),
  id,
  userId: z.string(),
  /** Whether a stranger may have registered with the email. Then the earlier API keys were revoked. */
  wasUnverified: z.boolean(),
});

/** Changes of a user's second factor. `reset` is the operator's action, the others are the user's own. */
export const SecondFactorChange = z.enum(["enabled", "removed", "reset"]);
export type SecondFactorChange = z.infer<typeof SecondFactorChange>;

/** A notice that a second factor was enabled or removed. */
const SecondFactorChangedJob = z.object({
  kind: z.literal("secondFactorChanged"),
  id,
  userId: z.string(),
  change: SecondFactorChange,
});

/** The parts of an organization that an operator can stop alone. */
const Stopped = z.enum(["apiKey", "hook", "sessions", "webhook"]);
export type Stopped = z.infer<typeof Stopped>;

/** A notice that the operator has stopped something: to the user of ended sessions, otherwise to owners and administrators. */
const StoppedJob = z.object({
  kind: z.literal("stopped"),
  id,
  organizationId: z.string(),
  what: Stopped,
  /** The id of what was stopped, or of the user. A name may be the words of a stranger. */
  stoppedId: z.string(),
});

/** The changes that owners are notified of without the email of a person. */
const changesForOwners = [
  "apiKeyMade",
  "autoRechargeChanged",
  "billingChanged",
  "capChanged",
  "guardWeakened",
  "recipientsChanged",
  "secondFactorOptional",
  "secondFactorRequired",
  "webhookChanged",
  "webhookMade",
  "webhookSecretReplaced",
] as const;
export type ChangeForOwners = (typeof changesForOwners)[number];

/** The notices to all owners of an organization, with the email of the person concerned. */
const OwnerNotice = z.discriminatedUnion("what", [
  z.object({
    what: z.enum(["ownerInvited", "ownerAdded", "ownerDemoted", "ownerRemoved", "secondFactorRemoved"]),
    email: z.string(),
  }),
  /** A member with a role that may make keys or add members. */
  z.object({ what: z.enum(["memberAdded", "memberInvited"]), email: z.string(), role: Role }),
  z.object({ what: z.enum(changesForOwners) }),
]);
export type OwnerNotice = z.infer<typeof OwnerNotice>;

/** Carries the recipient's address, because a removed owner has no record when the email is sent. */
const OwnerNoticeJob = z.object({ kind: z.literal("ownerNotice"), id, to: z.string(), notice: OwnerNotice });

/** The notices about the wallet for an owner whose email is verified. */
const LowBalanceJob = z.object({
  kind: z.literal("lowBalance"),
  id,
  organizationId: z.string(),
  balance: z.number(),
  lowBalanceThreshold: z.number(),
});
const SpendCapReachedJob = z.object({
  kind: z.literal("spendCapReached"),
  id,
  organizationId: z.string(),
  dailySpendCap: z.number(),
  resetsAt: z.string(),
});

/** A notice to the members who may approve held messages, that some wait for them. */
const MessagesHeldJob = z.object({ kind: z.literal("messagesHeld"), id, organizationId: z.string() });

/** A notice to owners that prices rise at a moment. Its id is of the rises, and it is not sent when they have changed. */
export const PricesRiseJob = z.object({
  kind: z.literal("pricesRise"),
  id,
  organizationId: z.string(),
  at: z.string(),
});

/** A notice about the operator's decision on a sender ID; on the business details if none is named. */
const ReviewDecidedJob = z.object({
  kind: z.literal("reviewDecided"),
  id,
  organizationId: z.string(),
  senderIdId: z.optional(z.string()),
});

/** A notice to the person who began an export, that it is ready. */
const ExportReadyJob = z.object({
  kind: z.literal("exportReady"),
  id,
  userId: z.string(),
  exportId: z.string(),
});

/** An invitation to an organization. */
const InvitationJob = z.object({ kind: z.literal("invitation"), id, userId: z.string() });

/** The notices about payments, for the members in the roles that the customer chose. */
const BillingNotice = z.discriminatedUnion("what", [
  z.object({ what: z.enum(["paymentReceived", "authenticationRequired"]), paymentId: z.string() }),
  /** `isOff`: whether auto-recharge was switched off. */
  z.object({ what: z.literal("rechargeFailed"), paymentId: z.string(), isOff: z.boolean() }),
  z.object({ what: z.literal("rechargeCapReached"), monthlyCap: z.number() }),
  /** `maximum`: the most of one payment, if the recharge is above it. */
  z.object({
    what: z.literal("dailyMaximumReached"),
    dailyMaximum: z.number(),
    maximum: z.optional(z.number()),
  }),
]);
export type BillingNotice = z.infer<typeof BillingNotice>;

const BillingJob = z.object({
  kind: z.literal("billing"),
  id,
  organizationId: z.string(),
  notice: BillingNotice,
});

/** The emails to the operators. Their texts are made of what the table has when they are sent. */
const OperatorNotice = z.discriminatedUnion("what", [
  /** The email of each morning. */
  z.object({ what: z.literal("daily") }),
  /** Unusual spending on a day that was noticed since a moment. Release 0.4.0 reads the sort key of one notice instead. */
  z.object({
    what: z.literal("unusualSpend"),
    day: z.string(),
    key: z.string(),
    since: z.optional(z.string()),
  }),
  /** Carriers whose figures are worse than usual, noticed since a moment. */
  z.object({ what: z.literal("carriers"), since: z.string() }),
  z.object({ what: z.literal("disputeOpened"), organizationId: z.string(), paymentId: z.string() }),
]);
export type OperatorNotice = z.infer<typeof OperatorNotice>;
const OperatorsJob = z.object({ kind: z.literal("operators"), id, notice: OperatorNotice });

/**
 * A job of the queue of emails: the recipient and the reason. Jobs contain no tokens or texts, which are generated when
 * the email is sent.
 */
export const EmailJob = z.discriminatedUnion("kind", [
  VerificationJob,
  PasswordResetJob,
  PasswordChangedJob,
  SecondFactorChangedJob,
  StoppedJob,
  OwnerNoticeJob,
  LowBalanceJob,
  SpendCapReachedJob,
  MessagesHeldJob,
  ReviewDecidedJob,
  ExportReadyJob,
  InvitationJob,
  BillingJob,
  OperatorsJob,
  PricesRiseJob,
]);
export type EmailJob = z.infer<typeof EmailJob>;

/** An email without the id that its job gets. */
export type Email = WithoutId<EmailJob>;
type WithoutId<Job> = Job extends EmailJob ? Omit<Job, "id"> : never;
