import { findDefaultSenderId } from "../accounts/organization-record.ts";
import { ApiError } from "../contract/errors.ts";

/**
 * The sender ID that a message asks for, or else the organisation's approved one.
 * @throws ApiError MISSING_SENDER_ID when there is neither
 */
export async function usableSenderId(organizationId: string, senderId: string | undefined): Promise<string> {
  const usable = senderId ?? (await findDefaultSenderId(organizationId));
  if (usable === undefined) throw new ApiError("MISSING_SENDER_ID");
  return usable;
}
