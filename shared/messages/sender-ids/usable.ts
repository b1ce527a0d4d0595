import { ApiError, invalidField } from "../../api/contract/errors.ts";
import type { SendSmsRequest } from "../../api/contract/sms.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import type { MessageRecord } from "../message/record.ts";

/**
 * Returns the sender of a message: the number or the sender ID that it requests, or else the organization's default. A test
 * message needs none. The policies decide whether the organization may use it (`isSenderRejected`).
 * @throws ApiError VALIDATION_ERROR for both a number and a sender ID; MISSING_SENDER_ID when there is none
 */
export function senderOf(
  organization: OrganizationRecord | undefined,
  { senderId, from }: Pick<SendSmsRequest, "from" | "senderId">,
  isTest = false,
): Pick<MessageRecord, "from" | "senderId"> {
  if (from !== undefined) {
    if (senderId !== undefined) throw invalidField("from", "must not be given together with senderId");
    return { senderId: from, from };
  }
  const usable = senderId ?? organization?.defaultSenderId ?? (isTest ? "TEST" : undefined);
  if (usable === undefined) throw new ApiError("MISSING_SENDER_ID");
  return { senderId: usable };
}
