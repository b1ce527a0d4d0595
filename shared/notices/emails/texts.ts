import { config } from "../../platform/config.ts";
import { brand } from "../brand/brand.ts";
import type { OwnerNotice, SecondFactorChange } from "./email-kinds.ts";
import { onOneLine, type EmailText } from "./layout.ts";

/*
 * The texts of all emails. People can register with other people's addresses. So an email to an unverified address
 * contains nothing that the requester typed, which could be a message to a stranger.
 */

const notYou = (): string => `If this was not you, set a new password now, and contact ${support()}.`;

/** Returns the contact for help. */
export function support(): string {
  return brand().supportEmail ?? `the operator of ${brand().name}`;
}

/** @param url where the link leads, with its token */
export function verificationText(url: string): EmailText {
  return {
    subject: "Verify your email",
    paragraphs: [
      `An account at ${brand().name} was registered with this email address. Please verify that the address is yours. Until ` +
        "then you cannot invite others, and you may not be able to send.",
      "You need the password of the account, because someone else could have registered with your address.",
    ],
    link: { label: "Verify the email", url },
    closing:
      "The link is valid for one day. If you did not register, ignore this email, or reset the password to take over the " +
      "account.",
  };
}

/**
 * @param url where the link leads, with its token
 * @param isUnverified whether the email has not been verified yet
 */
export function passwordResetText(url: string, isUnverified: boolean): EmailText {
  const ofStranger =
    "This email address was never verified, so someone else may have registered with it. With a new password, the account " +
    "is yours. Its organization is empty then, without earlier data, API keys and members. If you registered and know " +
    "your password, verify the address by the earlier email instead: then everything stays. If you registered and do not " +
    `know it, contact ${support()} before you set a new one.`;
  return {
    subject: "Set a new password",
    paragraphs: [
      `A new password was requested for your account at ${brand().name}, most likely by you.`,
      ...(isUnverified ? [ofStranger] : []),
    ],
    link: { label: "Set a new password", url },
    closing:
      "The link is valid for 30 minutes. If you requested several emails, only the newest link works. If you did not request it, ignore this email. Your password does not change.",
  };
}

/** @param wasUnverified whether a stranger may have registered with the email */
export function passwordChangedText(wasUnverified: boolean): EmailText {
  const ofStranger =
    "This email address had never been verified, so someone else may have registered with it. Your account therefore has " +
    `an empty organization now. The earlier one is suspended. If you had paid money into it, contact ${support()}.`;
  return {
    subject: "Your password was changed",
    paragraphs: [
      `The password of your account at ${brand().name} was changed. Your other sessions have ended.`,
      ...(wasUnverified ? [ofStranger] : []),
    ],
    closing: notYou(),
  };
}

export function secondFactorChangedText(change: SecondFactorChange): EmailText {
  const account = `your account at ${brand().name}`;
  const texts: Readonly<Record<SecondFactorChange, EmailText>> = {
    enabled: {
      subject: "Your second factor is switched on",
      paragraphs: [
        `Logging in to ${account} now requires a code from your authenticator app and the password.`,
      ],
      closing: notYou(),
    },
    removed: {
      subject: "Your second factor is switched off",
      paragraphs: [`Logging in to ${account} now requires only the password.`],
      closing: notYou(),
    },
    reset: {
      subject: "Your second factor was removed",
      paragraphs: [
        `The operator has removed the second factor from ${account}. Logging in requires only the password ` +
          "until you set up a new second factor.",
      ],
      closing: `If you did not request this, set a new password now, and contact ${support()}.`,
    },
  };
  return texts[change];
}

/** The notice to each owner of an organization. It contains only verified or invited addresses. */
export function ownerNoticeText(notice: OwnerNotice): EmailText {
  const closing =
    "You get this email because you are or were an owner of the organization. If no owner wanted this change, log out " +
    `everywhere, set a new password, revoke the API keys, and contact ${support()}.`;
  const organization = `your organization at ${brand().name}`;
  const email = "email" in notice ? notice.email : "";
  const role = "role" in notice ? notice.role : "";
  const texts = {
    apiKeyMade: [
      "An API key was created",
      `A new API key of ${organization} may create other keys, may move money, or has no end.`,
    ],
    autoRechargeChanged: ["Auto-recharge was changed", `The auto-recharge of ${organization} was changed.`],
    billingChanged: [
      "The billing details were changed",
      `Invoices of ${organization} have other billing details from now on.`,
    ],
    capChanged: [
      "The spending limit was changed",
      `The daily spending limit of ${organization} was changed.`,
    ],
    guardWeakened: [
      "The guard of verifications was weakened",
      `A verification profile of ${organization} rejects less fraud now, or sends codes to more countries.`,
    ],
    recipientsChanged: [
      "The recipients of emails were changed",
      `Other members of ${organization} now get receipts or warnings. Owners always get them.`,
    ],
    secondFactorOptional: ["A second factor is optional", `Members of ${organization} need none now.`],
    secondFactorRequired: [
      "A second factor is required",
      `Members of ${organization} now need a second factor. Without one, they can only set one up.`,
    ],
    webhookChanged: [
      "A webhook was changed",
      `A webhook of ${organization} calls another address, gets more events about your messages, or was enabled again.`,
    ],
    webhookSecretReplaced: [
      "The secret of a webhook was replaced",
      `The gateway signs calls of ${organization} with a new secret. A former one also signs for a day.`,
    ],
    webhookMade: [
      "A webhook was created",
      `A new webhook of ${organization} gets events about your messages.`,
    ],
    memberInvited: [
      "A member was invited",
      `${email} was invited to ${organization}, with the role ${role}.`,
    ],
    memberAdded: ["A member has a new role", `${email} now has the role ${role} in ${organization}.`],
    ownerInvited: ["An owner was invited", `${email} was invited to become an owner of ${organization}.`],
    ownerAdded: ["There is a new owner", `${email} is now an owner of ${organization}.`],
    ownerDemoted: ["An owner has another role", `${email} is no longer an owner of ${organization}.`],
    ownerRemoved: ["An owner was removed", `${email} was removed from ${organization}.`],
    secondFactorRemoved: [
      "A second factor was switched off",
      `${email}, a member of ${organization}, now logs in with only the password.`,
    ],
  } as const satisfies Record<typeof notice.what, readonly [subject: string, text: string]>;
  const [subject, text] = texts[notice.what];
  return { subject, paragraphs: [text], closing };
}

/**
 * @param url where the link leads, with its token
 * @param by the verified email of the inviter
 */
export function invitationText(url: string, by: string | undefined): EmailText {
  const who = by === undefined ? "You have been invited" : `${by} has invited you`;
  return {
    subject: "You are invited",
    paragraphs: [`${who} to join an organization at ${brand().name}.`],
    link: { label: "Accept the invitation", url },
    closing: "The link is valid for one week. If you do not expect this invitation, ignore this email.",
  };
}

interface LowBalance {
  readonly balance: number;
  readonly lowBalanceThreshold: number;
}

/** @param name the organization's, for its owner, whose email is verified */
export function lowBalanceText(name: string, { balance, lowBalanceThreshold }: LowBalance): EmailText {
  const whose = onOneLine(name);
  return {
    subject: `The balance of ${whose} is low`,
    paragraphs: [
      `The balance of ${whose} is ${amountText(balance)}, below your threshold of ${amountText(lowBalanceThreshold)}. ` +
        "Messages that the balance does not cover are rejected.",
    ],
    closing: "You get no more such emails until the balance has been above the threshold again.",
  };
}

interface SpendCapReached {
  readonly dailySpendCap: number;
  readonly resetsAt: string;
}

/** @param name the organization's, for its owner, whose email is verified */
export function spendCapReachedText(name: string, { dailySpendCap, resetsAt }: SpendCapReached): EmailText {
  const whose = onOneLine(name);
  return {
    subject: `${whose} has reached its daily spend cap`,
    paragraphs: [
      `${whose} has reached its daily spend cap of ${amountText(dailySpendCap)}. Messages are rejected, and campaigns wait, ` +
        `until ${resetsAt.slice(0, "yyyy-mm-ddThh:mm".length).replace("T", " ")} UTC.`,
    ],
    closing:
      "If you did not send these messages, revoke the API keys. You get this email at most once a day.",
  };
}

/** @param name the organization's. The keys have written the messages, and may have leaked. */
export function messagesHeldText(name: string): EmailText {
  const whose = onOneLine(name);
  return {
    subject: `Messages of ${whose} wait for approval`,
    paragraphs: [`API keys of ${whose} sent messages that a person has to approve within a week.`],
    link: { label: "Approve or reject them", url: `${config.apiUrl()}/console#/held-messages` },
    closing: "You get this email at most once an hour, while messages wait.",
  };
}

/** The part of a request for a sender ID, or of business details, that its decision is about. */
interface DecidedReview {
  readonly status: string;
  readonly senderId?: string;
  readonly rejectionReason?: string | undefined;
}

/** @param name the organization's */
export function reviewDecidedText(
  name: string,
  { status, senderId, rejectionReason }: DecidedReview,
): EmailText {
  const what = senderId === undefined ? "business details" : `sender ID ${senderId}`;
  const again = senderId === undefined ? "You can submit them again." : "You can request another one.";
  const isApproved = status === "approved";
  return {
    subject: `Your ${what}: ${status}`,
    paragraphs: [
      `${brand().name} has ${status} the ${what} of ${onOneLine(name)}.`,
      ...(rejectionReason === undefined ? [] : [`Reason: ${onOneLine(rejectionReason)}`]),
    ],
    link: {
      label: "Open the console",
      url: `${config.apiUrl()}/console#/${senderId === undefined ? "kyc" : "sender-ids"}`,
    },
    closing: isApproved ? "Messages can be sent with this approval now." : again,
  };
}

export function exportReadyText(exportId: string): EmailText {
  return {
    subject: "Your export is ready",
    paragraphs: [`The rows that you exported at ${brand().name} can now be saved as a CSV file.`],
    link: { label: "Save the file", url: `${config.apiUrl()}/console#/exports/${exportId}` },
    closing: "The file is deleted a day after the export began.",
  };
}

/** Formats an amount with all its decimals, at least those of the currency. */
export function amountText(amount: number): string {
  const options = { style: "currency", currency: config.currency(), maximumFractionDigits: 6 } as const;
  return amount.toLocaleString("en-US", options);
}
