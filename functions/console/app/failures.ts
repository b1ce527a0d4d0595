import type { DeliveryErrorCode, Message, MessageErrorCode } from "../../../shared/api/contract/sms.ts";

type Code = DeliveryErrorCode | MessageErrorCode;

/** The way on after a failure: the view that sends the same message again, or another one. */
type Action = "again" | readonly [href: string, name: string];

const contacts = ["#/contacts", "Contacts"] as const;

/** The advice for each reason, and its actions. */
export const advice: Readonly<Record<Code, readonly [text: string, ...actions: readonly Action[]]>> = {
  MESSAGE_INVALID_DESTINATION: ["Check the number, and correct the contact too.", "again", contacts],
  MESSAGE_UNROUTABLE: ["Check the number. Contact the gateway operator if its country matters to you."],
  MESSAGE_EXPIRED: ["Send it again if it still matters, with more time under “Expires after”.", "again"],
  MESSAGE_PROVIDER_ERROR: ["Send it again in a few minutes, or contact the gateway operator.", "again"],
  MESSAGE_OUTCOME_UNKNOWN: [
    "It may have arrived. Send it again only if a second copy does no harm.",
    "again",
  ],
  MESSAGE_SENDER_ID_NOT_APPROVED: ["Choose an approved sender ID.", "again", ["#/sender-ids", "Sender IDs"]],
  MESSAGE_RECIPIENT_OPTED_OUT: [
    "Do not send it again, unless the person asks you to.",
    ["#/opt-outs", "Opt-outs"],
  ],
  ORGANIZATION_SUSPENDED: ["Contact the gateway operator."],
  SENDING_PAUSED: ["Resume sending first.", "again", ["#/api-keys", "Resume sending"]],
  DELIVERY_EXPIRED: ["Send it again later, with more time under “Expires after”.", "again"],
  DELIVERY_INVALID_DESTINATION: ["Check the number, and correct the contact too.", "again", contacts],
  DELIVERY_REJECTED: ["Change the text first. Filters often reject links and capital letters.", "again"],
  DELIVERY_UNREACHABLE: ["Send it again later.", "again"],
  DELIVERY_FAILED: ["Send it again later, or contact the gateway operator.", "again"],
};

/** The reason why a message did not arrive; undefined if it did, or may still arrive. */
export function failureOf({ errorCode, delivery }: Message): Code | undefined {
  if (errorCode !== undefined) return errorCode;
  return delivery?.status === "undelivered" ? (delivery.errorCode ?? "DELIVERY_FAILED") : undefined;
}

/** The values of the form that sends a message again, without a number or text that was erased. */
export function repeated({ to, message, senderId, messageType, language, test }: Message) {
  const kept = (text: string): string => (text === "[removed]" ? "" : text);
  const rest = { isUnicode: language === "Unicode", isTest: test === true };
  return { to: kept(to), message: kept(message), senderId, messageType: messageType ?? "", ...rest };
}
