import type { OrganizationRecord } from "../accounts/organizations/record.ts";
import { ApiError } from "../contract/errors.ts";

/**
 * Returns the sender ID that a message requests, or else the organization's default.
 * @throws ApiError MISSING_SENDER_ID when there is neither
 */
export function usableSenderId(
  organization: OrganizationRecord | undefined,
  senderId: string | undefined,
): string {
  const usable = senderId ?? organization?.defaultSenderId;
  if (usable === undefined) throw new ApiError("MISSING_SENDER_ID");
  return usable;
}
