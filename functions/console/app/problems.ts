import { RequestError } from "../../../shared/client.ts";
import type { ErrorCode, ErrorDetail } from "../../../shared/contract/errors.ts";

/*
 * What a person reads where the API speaks to a developer: of fields and calls, which in the console are labels and views.
 */

/** What went wrong and what to do about it, with the view where that is done. */
export interface ProblemWords {
  readonly message?: string;
  readonly remedy: string;
  readonly link?: readonly [href: string, name: string];
}

const wallet = ["#/wallet", "Wallet"] as const;
const senderIds = ["#/sender-ids", "Sender IDs"] as const;

/** In the place of the API's message and remedy, for the codes whose words are for developers. */
export const problemWords: Readonly<Partial<Record<ErrorCode, ProblemWords>>> = {
  MISSING_SENDER_ID: {
    message: "A sender ID is missing.",
    remedy: "Enter one, or have one approved.",
    link: senderIds,
  },
  UNAUTHORIZED: { message: "Your session has ended.", remedy: "Log in again." },
  INVALID_SECOND_FACTOR: { remedy: "Enter the next code of your app, or an unused recovery code." },
  INSUFFICIENT_SCOPE: {
    message: "Your role does not allow this.",
    remedy: "Ask an owner or admin of your organisation.",
    link: ["#/members", "Members"],
  },
  INSUFFICIENT_BALANCE: { remedy: "Add money to the wallet, then try again.", link: wallet },
  DAILY_SPEND_CAP_REACHED: { remedy: "Wait until midnight UTC, or raise the limit.", link: wallet },
  PAYMENT_REQUIRED: { remedy: "Add money to the wallet, then try again.", link: wallet },
  EMAIL_NOT_VERIFIED: {
    remedy: "Open the link in the email that we sent you, or have it sent again.",
    link: ["#/security", "Security"],
  },
  KYC_REQUIRED: {
    message: "Your business is not verified yet.",
    remedy: "Submit your business details and wait for approval.",
    link: ["#/kyc", "KYC"],
  },
  SENDER_ID_NOT_APPROVED: {
    message: "This sender ID is not approved for your organisation.",
    remedy: "Use one that is approved, or request this one.",
    link: senderIds,
  },
  DESTINATION_NOT_PRICED: {
    remedy: "Ask the operator of the gateway for a price.",
    link: ["#/prices", "Prices"],
  },
  CONFLICT: { remedy: "Reload the page, then try again." },
  NOT_FOUND: { message: "This was not found.", remedy: "It may have been deleted." },
  IDEMPOTENCY_IN_PROGRESS: {
    message: "This is still being worked on.",
    remedy: "Wait a moment, then try again.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    message: "This was submitted before with other values.",
    remedy: "Look whether it was accepted before you submit it again.",
  },
  RATE_LIMITED: { remedy: "Wait a moment, then try again." },
  INTERNAL: { remedy: "Try again later. If it keeps happening, send the operator the request id below." },
};

const numberSentence = "Enter a phone number with its country code, such as +1 500 555 0000.";

/** What a person reads where a field's message is for developers. */
const fieldSentences: Readonly<Record<string, string>> = {
  to: numberSentence,
  phoneNumber: numberSentence,
  senderId: "Use up to 11 letters and digits.",
  url: "Enter the whole address, beginning with https://.",
  "audience.tags": "Choose who gets it.",
};

/** The field that an error without details is about. */
const fieldsOfCodes: Readonly<Partial<Record<ErrorCode, ErrorDetail>>> = {
  MISSING_SENDER_ID: {
    path: "senderId",
    message: "Enter a sender ID. Once one of yours is approved, this may stay empty.",
  },
};

/** What an error says of single fields. */
export function fieldProblems(error: unknown): readonly ErrorDetail[] {
  if (error instanceof FieldProblem) return error.details;
  if (!(error instanceof RequestError)) return [];
  const about = error.code === undefined ? undefined : fieldsOfCodes[error.code];
  return about === undefined ? error.details : [about];
}

/** What the console itself finds wrong with a field, in the form that the API's findings have. */
export class FieldProblem extends Error {
  override readonly name = "FieldProblem";
  readonly details: readonly ErrorDetail[];

  constructor(path: string, message: string) {
    super("Something is not right yet.");
    this.details = [{ path, message }];
  }
}

/** What went wrong, for a person, in one sentence. */
export function messageOf(error: unknown): string {
  if (error instanceof RequestError) {
    const [problem] = fieldProblems(error);
    if (problem !== undefined) return problemOfField(problem.path, [problem]) ?? error.message;
    return (error.code && problemWords[error.code]?.message) ?? error.message;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Words of schemas and wire formats. */
const developerWords =
  /expected|international (digits|form)|in digits|Invalid|E\.164|of the form|MSISDN|\barray\b|\bstring\b/i;

/** Whether what an error says of a path is about a field, or about something inside it. */
export function isOfField(field: string, path: string): boolean {
  return `${path}.`.startsWith(`${field}.`);
}

/** What is wrong with a field, as sentences; undefined when nothing is. */
export function problemOfField(field: string, details: readonly ErrorDetail[]): string | undefined {
  const own = details.filter(({ path }) => isOfField(field, path));
  if (own.length === 0) return undefined;
  const plain = own.filter(({ message }) => !developerWords.test(message));
  const fallback = fieldSentences[field] ?? "This is missing or cannot be used.";
  return plain.length === 0 ? fallback : plain.map(({ message }) => sentenceOf(message)).join(" ");
}

/** A message such as `must be a URL` as a sentence. */
export function sentenceOf(message: string): string {
  const capitalized = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?…]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}
