import { ApiError } from "../../api/contract/errors.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";

/**
 * Returns the sender ID that a message requests, or else the organization's default. A test message needs neither.
 * @throws ApiError MISSING_SENDER_ID when there is none
 */
export function usableSenderId(
  organization: OrganizationRecord | undefined,
  senderId: string | undefined,
  isTest = false,
): string {
  const usable = senderId ?? organization?.defaultSenderId ?? (isTest ? "TEST" : undefined);
  if (usable === undefined) throw new ApiError("MISSING_SENDER_ID");
  return usable;
}
