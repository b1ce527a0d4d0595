import type { DeliveryErrorCode, Message, MessageErrorCode } from "../../../shared/api/contract/sms.ts";
import { typedForm } from "./typed.ts";

type Code = DeliveryErrorCode | MessageErrorCode;

/** The way on after a failure: the view that sends the same message again, or another one. */
type Action = "again" | readonly [href: string, name: string];

const contacts = ["#/contacts", "Contacts"] as const;

/** The actions for a reason, if others than to send the message again. */
export const otherActions: Partial<Readonly<Record<Code, readonly Action[]>>> = {
  MESSAGE_INVALID_DESTINATION: ["again", contacts],
  MESSAGE_UNROUTABLE: [],
  MESSAGE_SENDER_ID_NOT_APPROVED: ["again", ["#/sender-ids", "Sender IDs"]],
  MESSAGE_RECIPIENT_OPTED_OUT: [["#/opt-outs", "Opt-outs"]],
  ORGANIZATION_SUSPENDED: [],
  SENDING_PAUSED: ["again", ["#/api-keys", "Resume sending"]],
  DELIVERY_INVALID_DESTINATION: ["again", contacts],
};

/** The values of the form that sends a message again, without a number or text that was erased. */
export function repeated({ to, message, senderId, messageType, language, test }: Message) {
  const kept = (text: string): string => (text === "[removed]" ? "" : text);
  const rest = { messageType: messageType ?? "", isUnicode: language === "Unicode", isTest: test === true };
  return { to: typedForm(kept(to)), message: kept(message), senderId, ...rest };
}
