import { findOrganization, replaceDefaultSenderId, takeQuota } from "../accounts/organization-record.ts";
import { ApiError } from "../contract/errors.ts";
import type { Page, PageQuery } from "../contract/primitives.ts";
import type { CreateSenderIdRequest, SenderIdRequest } from "../contract/sender-ids.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/table/keys.ts";
import { pageOf } from "../platform/table/page.ts";
import { readItem, transact, type Write } from "../platform/table/table.ts";
import { openReview } from "../reviews/record.ts";
import { changeAttempts, listSenderIdRecords, maxSenderIds, readSenderId, SenderIdRecord } from "./review.ts";

/**
 * Requests a sender ID. The request takes the place of one that was rejected.
 * @throws ApiError CONFLICT when it is pending or approved already, in whatever case, or when the organisation
 *   has as many as it may have; UNAVAILABLE when too many other changes came in between
 */
export async function createSenderId(
  organizationId: string,
  request: CreateSenderIdRequest,
): Promise<SenderIdRequest> {
  const key = keys.senderId(organizationId, request.senderId);
  const record: SenderIdRecord = {
    entity: "senderId",
    id: newId("sid"),
    organizationId,
    ...request,
    status: "pending",
    createdAt: now().toISOString(),
  };
  for (let attempt = 1; attempt <= changeAttempts; attempt += 1) {
    const seen = await readItem(SenderIdRecord, key, { consistent: true });
    if (seen !== undefined && seen.status !== "rejected") {
      throw new ApiError("CONFLICT", { message: `The sender ID is ${seen.status} already.` });
    }
    const requested = await transact([
      { put: { ...key, ...record }, ...unchangedSince(seen) },
      openReview("sender-ids", record.id, organizationId),
      ...placeBeside(organizationId, seen),
    ]);
    if (requested.committed) return presentSenderId(record, undefined);
    if (requested.refusals[0] === undefined && requested.refusals[2] !== undefined) {
      throw new ApiError("CONFLICT", { message: `An organisation has at most ${maxSenderIds} sender IDs.` });
    }
  }
  throw new ApiError("UNAVAILABLE");
}

function unchangedSince(seen: SenderIdRecord | undefined) {
  if (seen === undefined) return { condition: "attribute_not_exists(pk)" };
  return {
    condition: "id = :seenId AND #status = :rejected",
    names: { "#status": "status" },
    values: { ":seenId": seen.id, ":rejected": "rejected" },
  };
}

/** A request that takes the place of a rejected one needs no other. */
function placeBeside(organizationId: string, seen: SenderIdRecord | undefined): Write[] {
  return seen === undefined ? [takeQuota(organizationId, "senderIdCount", maxSenderIds)] : [];
}

/** The organisation's requests, newest first. */
export async function listSenderIds(
  organizationId: string,
  query: PageQuery,
): Promise<Page<SenderIdRequest>> {
  const [records, organization] = await Promise.all([
    listSenderIdRecords(organizationId),
    findOrganization(organizationId, { consistent: true }),
  ]);
  return pageOf(
    records.map((record) => presentSenderId(record, organization?.defaultSenderId)),
    query,
  );
}

/**
 * Makes an approved sender ID the one of messages that name none.
 * @throws ApiError NOT_FOUND, also for a request of another organisation; CONFLICT when it is not approved;
 *   UNAVAILABLE when too many other changes came in between
 */
export async function setDefaultSenderId(
  organizationId: string,
  senderIdId: string,
): Promise<SenderIdRequest> {
  for (let attempt = 1; attempt <= changeAttempts; attempt += 1) {
    const { record, defaultSenderId } = await readSenderId(organizationId, senderIdId);
    if (record.status !== "approved") {
      throw new ApiError("CONFLICT", { message: "The sender ID is not approved." });
    }
    const written = await transact([
      {
        // Changes nothing: the sender ID must still be approved when it becomes the default.
        key: keys.senderId(organizationId, record.senderId),
        update: "SET #status = :approved",
        condition: "id = :id AND #status = :approved",
        names: { "#status": "status" },
        values: { ":id": record.id, ":approved": "approved" },
      },
      replaceDefaultSenderId(organizationId, defaultSenderId, record.senderId),
    ]);
    if (written.committed) return presentSenderId(record, record.senderId);
  }
  throw new ApiError("UNAVAILABLE");
}

function presentSenderId(record: SenderIdRecord, defaultSenderId: string | undefined): SenderIdRequest {
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
