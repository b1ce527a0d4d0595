import { RequestError } from "../../../shared/api/client/client.ts";
import type { ErrorCode, ErrorDetail } from "../../../shared/api/contract/errors.ts";

/*
 * Texts for people in place of API messages for developers, which refer to fields and calls.
 */

/** An error text with its remedy and the view where the person can fix it. */
export interface ProblemText {
  readonly message?: string;
  readonly remedy: string;
  /** `funds` leads to where the customers of this gateway add funds. */
  readonly link?: "funds" | readonly [href: string, name: string];
}

const wallet = ["#/wallet", "Wallet"] as const;
const senderIds = ["#/sender-ids", "Sender IDs"] as const;

export const notAllowed = {
  message: "Your role does not allow this.",
  remedy: "Ask an owner or admin of your organization.",
} as const;

/** Replacements for API messages and remedies that are written for developers. */
export const problemTexts: Readonly<Partial<Record<ErrorCode, ProblemText>>> = {
  MISSING_SENDER_ID: {
    message: "A sender ID is missing.",
    remedy: "Enter a sender ID, or request approval for one.",
    link: senderIds,
  },
  UNAUTHORIZED: { message: "Your session has ended.", remedy: "Log in again." },
  INVALID_SECOND_FACTOR: { remedy: "Enter a new code from your app, or an unused recovery code." },
  INSUFFICIENT_SCOPE: { ...notAllowed, link: ["#/members", "Members"] },
  INSUFFICIENT_BALANCE: { remedy: "Add funds to your wallet, then try again.", link: "funds" },
  BALANCE_NEGATIVE: {
    message: "Your balance is negative, because a bank took back a payment.",
    remedy: "Pay at least the missing amount, or contact the gateway operator.",
    link: "funds",
  },
  PAYMENT_METHOD_DISABLED: { remedy: "Choose another method." },
  DAILY_SPEND_CAP_REACHED: { remedy: "Wait until midnight UTC, or raise the limit.", link: wallet },
  PAYMENT_REQUIRED: { remedy: "Add funds to your wallet, then try again.", link: "funds" },
  EMAIL_NOT_VERIFIED: {
    remedy: "Open the link in the verification email, or request a new one.",
    link: ["#/security", "Security"],
  },
  KYC_REQUIRED: {
    message: "Your business is not verified yet.",
    remedy: "Submit your business details, then wait for approval.",
    link: ["#/kyc", "Business verification"],
  },
  SENDER_ID_NOT_APPROVED: {
    message: "This sender ID is not approved for your organization.",
    remedy: "Use an approved sender ID, or request approval for this one.",
    link: senderIds,
  },
  DESTINATION_NOT_PRICED: {
    remedy: "Contact the gateway operator to request a price.",
    link: ["#/prices", "Prices"],
  },
  CONFLICT: { remedy: "Reload the page, then try again." },
  NOT_FOUND: { message: "Not found.", remedy: "It may have been deleted." },
  IDEMPOTENCY_IN_PROGRESS: {
    message: "This request is still being processed.",
    remedy: "Wait a moment, then try again.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    message: "This request was already submitted with different values.",
    remedy: "Check whether it was accepted before you submit it again.",
  },
  RATE_LIMITED: { remedy: "Wait a moment, then try again." },
  INTERNAL: {
    remedy: "Try again later. If the problem persists, send the request ID below to the gateway operator.",
  },
};

const numberSentence = "Enter a phone number with its country code, for example +1 500 555 0000.";

/** Replacements for field messages that are written for developers. */
const fieldSentences: Readonly<Record<string, string>> = {
  to: numberSentence,
  phoneNumber: numberSentence,
  senderId: "Use up to 11 letters and digits.",
  paymentMethodId: "Choose a saved card, or add one first.",
  url: "Enter the full URL, starting with https://.",
  "audience.tags": "Choose an audience.",
};

/** The field that an error code without details refers to. */
const fieldsOfCodes: Readonly<Partial<Record<ErrorCode, ErrorDetail>>> = {
  MISSING_SENDER_ID: {
    path: "senderId",
    message: "Enter a sender ID. You can leave this empty once you have an approved one.",
  },
};

/** The details of an error that refer to fields. */
export function fieldProblems(error: unknown): readonly ErrorDetail[] {
  if (error instanceof FieldProblem) return error.details;
  if (!(error instanceof RequestError)) return [];
  const about = error.code === undefined ? undefined : fieldsOfCodes[error.code];
  return about === undefined ? error.details : [about];
}

/** A field error found by the console, in the form of the API's details. */
export class FieldProblem extends Error {
  override readonly name = "FieldProblem";
  readonly details: readonly ErrorDetail[];

  constructor(path: string, message: string) {
    super("A field has an invalid value.");
    this.details = [{ path, message }];
  }
}

/** Describes an error in one sentence. */
export function messageOf(error: unknown): string {
  if (error instanceof RequestError) {
    const [problem] = fieldProblems(error);
    if (problem !== undefined) return problemOfField(problem.path, [problem]) ?? error.reason;
    return (error.code && problemTexts[error.code]?.message) ?? error.reason;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Terms that mark a message as written for developers. */
const developerTerms =
  /expected|international (digits|form)|in digits|Invalid|E\.164|of the form|MSISDN|saved card|GET \/|\barray\b|\bstring\b/i;

/** Whether an error path refers to a field or to something inside it. */
export function isOfField(field: string, path: string): boolean {
  return `${path}.`.startsWith(`${field}.`);
}

/** Describes what is wrong with a field; undefined when nothing is. */
export function problemOfField(field: string, details: readonly ErrorDetail[]): string | undefined {
  const own = details.filter(({ path }) => isOfField(field, path));
  if (own.length === 0) return undefined;
  const plain = own.filter(({ message }) => !developerTerms.test(message));
  const fallback = fieldSentences[field] ?? "This field is missing or invalid.";
  return plain.length === 0 ? fallback : plain.map(({ message }) => sentenceOf(message)).join(" ");
}

function sentenceOf(message: string): string {
  const sentence = capitalized(message);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
