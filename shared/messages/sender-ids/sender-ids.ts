import { ApiError, invalidField } from "../../api/contract/errors.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import type { CreateSenderIdRequest, SenderIdRequest } from "../../api/contract/sender-ids.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { newId } from "../../platform/ids.ts";
import { keys } from "../../platform/table/keys.ts";
import { pageOf } from "../../platform/table/page.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { updateOf, putOf } from "../../platform/table/write.ts";
import { takeQuota } from "../../tenancy/organizations/quota.ts";
import { findOrganization, replaceDefaultSenderId } from "../../tenancy/organizations/record.ts";
import { openReview } from "../../tenancy/reviews.ts";
import { isNumeric } from "./names.ts";
import { maxSenderIds, toApiSenderId, readSenderId, readSenderIds, SenderIdRecord } from "./record.ts";

/**
 * Requests a sender ID. The request replaces a rejected one.
 * @throws ApiError VALIDATION_ERROR for a number, if the stage requires approval, because a number is never approved.
 *   CONFLICT when it is pending or approved already, in any case, or when the organization has the most requests
 *   allowed. UNAVAILABLE when too many other changes came in between.
 */
export async function createSenderId(
  organizationId: string,
  request: CreateSenderIdRequest,
): Promise<SenderIdRequest> {
  if (config.approvedSenderIdsOnly() && isNumeric(request.senderId)) {
    throw invalidField("senderId", "must have a letter: only the operator assigns numbers to organizations");
  }
  const key = keys.senderId(organizationId, request.senderId);
  const record: SenderIdRecord = {
    entity: "senderId",
    id: newId("sid"),
    organizationId,
    ...request,
    status: "pending",
    createdAt: now().toISOString(),
  };
  return untilUndisturbed(async () => {
    const seen = await findItem(SenderIdRecord, key, { consistent: true });
    if (seen !== undefined && seen.status !== "rejected") {
      throw new ApiError("CONFLICT", { message: `The sender ID is ${seen.status} already.` });
    }
    const requested = await transact({
      request: putOf(
        key,
        record,
        seen === undefined ? { absent: ["pk"] } : { is: { id: seen.id, status: "rejected" } },
      ),
      review: openReview("sender-ids", record.id, organizationId),
      // A request that replaces a rejected one needs no quota of its own.
      quota: seen === undefined ? takeQuota(organizationId, "senderIdCount", maxSenderIds) : [],
    });
    if (requested.outcome === "committed") return toApiSenderId(record, undefined);
    const { request: unlikeSeen, quota } = requested.rejections;
    if (unlikeSeen === undefined && quota !== undefined) {
      throw new ApiError("CONFLICT", { message: `An organization has at most ${maxSenderIds} sender IDs.` });
    }
    return undefined;
  });
}

/** Returns a page of the organization's requests, newest first. */
export async function listSenderIds(
  organizationId: string,
  query: PageQuery,
): Promise<Page<SenderIdRequest>> {
  const [records, organization] = await Promise.all([
    readSenderIds(organizationId),
    findOrganization(organizationId, { consistent: true }),
  ]);
  return pageOf(
    records.map((record) => toApiSenderId(record, organization?.defaultSenderId)),
    query,
  );
}

/**
 * Makes an approved sender ID the default for messages that name none.
 * @throws ApiError NOT_FOUND, also for a request of another organization; CONFLICT when it is not approved; UNAVAILABLE
 *   when too many other changes came in between
 */
export async function setDefaultSenderId(
  organizationId: string,
  senderIdId: string,
): Promise<SenderIdRequest> {
  return untilUndisturbed(async () => {
    const { record, defaultSenderId } = await readSenderId(organizationId, senderIdId);
    if (record.status !== "approved") {
      throw new ApiError("CONFLICT", { message: "The sender ID is not approved." });
    }
    const written = await transact({
      // Changes nothing: the sender ID must still be approved when it becomes the default.
      request: updateOf(
        keys.senderId(organizationId, record.senderId),
        { set: { status: "approved" } },
        { is: { id: record.id, status: "approved" } },
      ),
      defaultSenderId: replaceDefaultSenderId(organizationId, defaultSenderId, record.senderId),
    });
    return written.outcome === "committed" ? toApiSenderId(record, record.senderId) : undefined;
  });
}
