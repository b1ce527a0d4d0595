import * as z from "zod/mini";

import { orNotFound } from "../../api/contract/errors.ts";
import { SenderIdRequest } from "../../api/contract/sender-ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsOf, queryRows } from "../../platform/table/read.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";

/** A request for a sender ID. Its key is the sender ID itself, so an organization has one request for each. */
export const SenderIdRecord = z.extend(z.omit(SenderIdRequest, { isDefault: true }), {
  entity: z.literal("senderId"),
  organizationId: z.string(),
});
export type SenderIdRecord = z.infer<typeof SenderIdRecord>;

export const maxSenderIds = 50;

/** Reads an organization's requests as they are now, newest first. */
export async function readSenderIds(organizationId: string): Promise<SenderIdRecord[]> {
  const { pk } = keys.organization(organizationId);
  const rows = await queryRows(SenderIdRecord, {
    pk,
    from: "SENDER-ID#",
    to: "SENDER-ID#~",
    limit: maxSenderIds,
    consistent: true,
  });
  return itemsOf(rows).toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

/**
 * Reads a request by its id, and the default sender ID, as they are now.
 * @throws ApiError NOT_FOUND, also for a request of another organization
 */
export async function readSenderId(
  organizationId: string,
  senderIdId: string,
): Promise<{ readonly record: SenderIdRecord; readonly defaultSenderId: string | undefined }> {
  const [records, organization] = await Promise.all([
    readSenderIds(organizationId),
    findOrganization(organizationId, { consistent: true }),
  ]);
  const record = orNotFound(records.find(({ id }) => id === senderIdId));
  return { record, defaultSenderId: organization?.defaultSenderId };
}

export function toApiSenderId(record: SenderIdRecord, defaultSenderId: string | undefined): SenderIdRequest {
  return {
    id: record.id,
    senderId: record.senderId,
    useCase: record.useCase,
    status: record.status,
    isDefault: record.status === "approved" && record.senderId === defaultSenderId,
    createdAt: record.createdAt,
    decidedAt: record.decidedAt,
    rejectionReason: record.rejectionReason,
  };
}
