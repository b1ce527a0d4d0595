import * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";
import type { HeldMessage, HeldMessagesQuery } from "../../api/contract/held-messages.ts";
import { detailsOf, storedDetails } from "../../api/contract/message-details.ts";
import type { Page } from "../../api/contract/primitives.ts";
import { Language, MessageType } from "../../api/contract/sms.ts";
import { keys } from "../../platform/table/keys.ts";
import { leaseFields } from "../../platform/table/lease.ts";
import { readWantedPage } from "../../platform/table/page.ts";
import { findItem } from "../../platform/table/read.ts";
import { hasExpired, toApiPricing } from "../message/record.ts";

/*
 * Held messages: those above the `holdAbove` of their API key. They are not charged. A person approves one, which accepts it as
 * a message (`decide-held.ts`), or rejects it. They are deleted after a week.
 */

export const HeldMessageRecord = z.object({
  entity: z.literal("heldMessage"),
  id: z.string(),
  organizationId: z.string(),
  status: z.enum(["held", "approved", "rejected"]),
  to: z.string(),
  message: z.string(),
  senderId: z.string(),
  from: z.optional(z.string()),
  language: Language,
  messageType: z.optional(MessageType),
  scheduledAt: z.optional(z.string()),
  expiresInSeconds: z.optional(z.int()),
  ...storedDetails,
  segments: z.int(),
  unitPriceMicros: z.int(),
  totalMicros: z.int(),
  /** The price when it was held; present after an attempt to approve it. */
  heldMicros: z.optional(z.int()),
  apiKeyId: z.string(),
  heldAt: z.string(),
  decidedAt: z.optional(z.string()),
  decidedBy: z.optional(z.string()),
  /** The call that rejected it, so that its repeat after a lost response recognizes it. */
  rejectionId: z.optional(z.string()),
  messageId: z.optional(z.string()),
  /** Present while an approval is in progress. */
  ...leaseFields,
  expiresAt: z.int(),
});
export type HeldMessageRecord = z.infer<typeof HeldMessageRecord>;

/** Returns a page of the organization's held messages, newest first. */
export async function listHeldMessages(
  organizationId: string,
  query: HeldMessagesQuery,
): Promise<Page<HeldMessage>> {
  const page = await readWantedPage(
    HeldMessageRecord,
    { pk: keys.heldMessage(organizationId, "").pk, newestFirst: true, consistent: true },
    query,
    (record) => !hasExpired(record) && (query.status === undefined || record.status === query.status),
  );
  return { rows: page.rows.map(toApiHeldMessage), meta: page.meta };
}

/** Reads a held message as it is now. @throws ApiError NOT_FOUND, also for one of another organization */
export async function getHeldMessage(organizationId: string, id: string): Promise<HeldMessage> {
  return toApiHeldMessage(await readHeldMessage(organizationId, id));
}

/** Reads a held message as it is now. @throws ApiError NOT_FOUND, also for one of another organization */
export async function readHeldMessage(organizationId: string, id: string): Promise<HeldMessageRecord> {
  const record = await findItem(HeldMessageRecord, keys.heldMessage(organizationId, id), {
    consistent: true,
  });
  if (record === undefined || hasExpired(record)) throw new ApiError("NOT_FOUND");
  return record;
}

/** Returns a held message as its organization sees it. */
export function toApiHeldMessage(record: HeldMessageRecord): HeldMessage {
  const { id, status, to, message, senderId, from, messageType, scheduledAt } = record;
  const { apiKeyId, heldAt, decidedAt, decidedBy, messageId } = record;
  return {
    id,
    status,
    to,
    message,
    senderId,
    from,
    messageType,
    scheduledAt,
    ...detailsOf(record),
    pricing: toApiPricing(record),
    apiKeyId,
    heldAt,
    expiresAt: new Date(record.expiresAt * 1_000).toISOString(),
    decidedAt,
    decidedBy,
    messageId,
  };
}
