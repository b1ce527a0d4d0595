import type { OwnerNotice, SecondFactorChange } from "./email-job.ts";
import { onOneLine, type EmailText } from "./layout.ts";

/*
 * What the gateway writes to people: all of it is here. Anybody can register with anybody's address, so what goes to one
 * that is not verified has no words of whoever asked for it, which could be meant for a stranger.
 */

const notYou = "If that was not you, set a new password at once, and contact the operator of this gateway.";

/** @param url where the link leads, with its token */
export function verificationText(url: string): EmailText {
  return {
    subject: "Verify your email",
    paragraphs: [
      "An account of the SMS gateway was registered with this email. Please show that it is yours: until then you may not " +
        "be able to send, and you cannot invite anybody.",
      "You need the password of the account for that. Verifying ends what was made before: sessions, API keys, webhooks and " +
        "invitations. Log in again afterwards, and make the keys that you need.",
    ],
    link: { label: "Verify the email", url },
    closing:
      "The link is good for a day. If you have not registered, do nothing, or reset the password to make the account yours.",
  };
}

/**
 * @param url where the link leads, with its token
 * @param isUnverified whether the email has not been verified yet
 */
export function passwordResetText(url: string, isUnverified: boolean): EmailText {
  const ofStranger =
    "This email was never verified, so somebody else may have registered with it. A new password makes the " +
    "account yours and ends what was made before: sessions, API keys, webhooks, invitations, other members and a second " +
    "factor.";
  return {
    subject: "Set a new password",
    paragraphs: [
      "Somebody, most likely you, has asked for a new password for your account of the SMS gateway.",
      ...(isUnverified ? [ofStranger] : []),
    ],
    link: { label: "Set a new password", url },
    closing:
      "The link is good for 30 minutes. If you have not asked for it, do nothing: your password stays.",
  };
}

/** @param wasUnverified whether a stranger may have registered with the email */
export function passwordChangedText(wasUnverified: boolean): EmailText {
  const ofStranger =
    "This email had never been verified, so somebody else may have registered with it. What was made in that time " +
    "has ended: sessions, API keys, webhooks, invitations, other members and a second factor. Make the API keys and " +
    "webhooks that you need again.";
  return {
    subject: "Your password was changed",
    paragraphs: [
      "The password of your account of the SMS gateway was changed, and other sessions were ended.",
      ...(wasUnverified ? [ofStranger] : []),
    ],
    closing: notYou,
  };
}

export function secondFactorChangedText(change: SecondFactorChange): EmailText {
  const account = "your account of the SMS gateway";
  const texts: Readonly<Record<SecondFactorChange, EmailText>> = {
    enabled: {
      subject: "Your second factor is switched on",
      paragraphs: [
        `Log-ins to ${account} need a code of an authenticator app from now on, beside the password.`,
      ],
      closing: notYou,
    },
    removed: {
      subject: "Your second factor is switched off",
      paragraphs: [`Log-ins to ${account} need the password alone from now on.`],
      closing: notYou,
    },
    reset: {
      subject: "Your second factor was taken away",
      paragraphs: [
        `Whoever runs this gateway has taken the second factor away from ${account}. Log-ins need the password alone until ` +
          "you set up another one.",
      ],
      closing:
        "If you have not asked for that, set a new password at once, and contact the operator of this gateway.",
    },
  };
  return texts[change];
}

/** For each owner of an organization. Only addresses are in it that have been shown to be somebody's, or are invited. */
export function ownerNoticeText(notice: OwnerNotice): EmailText {
  const closing =
    "You get this because you own the organization, or did. If none of you wanted it, log out everywhere, set a new " +
    "password, revoke the API keys, and contact the operator of this gateway.";
  const organization = "your organization at the SMS gateway";
  if (notice.what === "apiKeyMade") {
    return {
      subject: "An API key was made",
      paragraphs: [`Somebody has made an API key of ${organization} that may make other keys or move money.`],
      closing,
    };
  }
  const { email } = notice;
  const texts = {
    ownerInvited: ["An owner was invited", `${email} was invited to become an owner of ${organization}.`],
    ownerAdded: ["There is a new owner", `${email} is an owner of ${organization} now.`],
    ownerDemoted: ["An owner has another role", `${email} is no longer an owner of ${organization}.`],
    ownerRemoved: ["An owner was removed", `${email} was removed from ${organization}.`],
    secondFactorRemoved: [
      "A second factor was switched off",
      `${email}, a member of ${organization}, logs in with the password alone from now on.`,
    ],
  } as const satisfies Record<typeof notice.what, readonly [subject: string, text: string]>;
  const [subject, text] = texts[notice.what];
  return { subject, paragraphs: [text], closing };
}

/**
 * @param url where the link leads, with its token
 * @param by the verified email of who has invited
 */
export function invitationText(url: string, by: string | undefined): EmailText {
  const who = by === undefined ? "You have been invited" : `${by} has invited you`;
  return {
    subject: "You are invited",
    paragraphs: [
      `${who} to an organisation at the SMS gateway, where you would work with its other members.`,
    ],
    link: { label: "Accept the invitation", url },
    closing: "The link is good for a week. If you do not know who that could be, do nothing.",
  };
}

interface LowBalance {
  readonly balance: number;
  readonly lowBalanceThreshold: number;
}

/** @param name the organisation's, for its owner, whose email is verified */
export function lowBalanceText(name: string, { balance, lowBalanceThreshold }: LowBalance): EmailText {
  const whose = onOneLine(name);
  return {
    subject: `The balance of ${whose} is low`,
    paragraphs: [
      `The balance of ${whose} is ${amountText(balance)}, below the ${amountText(lowBalanceThreshold)} that you want to hear ` +
        "of. Messages that it does not cover are refused.",
    ],
    closing: "This comes once, until the balance has been above the threshold again.",
  };
}

interface SpendCapReached {
  readonly dailySpendCap: number;
  readonly resetsAt: string;
}

/** @param name the organisation's, for its owner, whose email is verified */
export function spendCapReachedText(name: string, { dailySpendCap, resetsAt }: SpendCapReached): EmailText {
  const whose = onOneLine(name);
  return {
    subject: `${whose} has reached its daily spend cap`,
    paragraphs: [
      `${whose} has spent what it may spend in a day, ${amountText(dailySpendCap)}. Messages are refused, and campaigns wait, ` +
        `until ${resetsAt.slice(0, "yyyy-mm-ddThh:mm".length).replace("T", " ")} UTC.`,
    ],
    closing: "Were the messages not yours? Then revoke the API keys. This comes once a day.",
  };
}

/** An amount in USD, with as many decimals as it has, at least two. */
function amountText(amount: number): string {
  const options = { style: "currency", currency: "USD", maximumFractionDigits: 6 } as const;
  return amount.toLocaleString("en-US", options);
}
