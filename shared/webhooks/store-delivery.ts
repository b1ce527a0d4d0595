import * as z from "zod/mini";

import type { WebhookPayload } from "../api/contract/webhooks.ts";
import { redactedText } from "../messages/message/record.ts";
import { keys } from "../platform/table/keys.ts";
import { findItem } from "../platform/table/read.ts";
import { messageKey } from "../platform/table/shards.ts";
import { deleteItem, putItem } from "../platform/table/write.ts";
import { findOrganization } from "../tenancy/organizations/record.ts";
import { isCallbacks } from "./callbacks.ts";
import { putDelivery, type DeliveryRecord } from "./delivery-record.ts";
import type { WebhookRecord } from "./record.ts";

const consistent = { consistent: true };

/**
 * Stores a new delivery, unless it exists. Deletes it again when its event is about a number or of an organization that was
 * erased while the event was on its queue. The check comes after the write: then either the erasure finds the delivery, or the check finds
 * the erasure.
 */
export async function storeDelivery(
  { organizationId, id: webhookId }: WebhookRecord,
  delivery: DeliveryRecord,
): Promise<"erased" | "stored" | "there"> {
  const { leaseToken, payload } = delivery;
  const stored = await putItem(putDelivery(webhookId, delivery), {
    isOwn: (found) => leaseToken !== undefined && found["leaseToken"] === leaseToken,
  });
  // The erasure of an organization removes its webhooks first, but callbacks need no record.
  const isGone = isCallbacks(webhookId) && (await findOrganization(organizationId, consistent)) === undefined;
  if (isGone || (await isErased(organizationId, payload))) {
    await deleteItem(keys.webhookDelivery(webhookId, delivery.id));
    return "erased";
  }
  return stored.applied ? "stored" : "there";
}

const Stored = z.object({ to: z.string() });

/** Returns whether the message of an event has been erased. A message past its retention counts as not erased. */
async function isErased(organizationId: string, payload: WebhookPayload): Promise<boolean> {
  switch (payload.event) {
    case "message.sent":
    case "message.failed":
    case "message.delivered":
    case "message.undelivered": {
      const message = await findItem(Stored, messageKey({ organizationId, id: payload.data.id }), consistent);
      return message?.to === redactedText;
    }
    case "verification.approved":
    case "verification.failed":
    case "verification.expired":
    case "verification.blocked": {
      const found = await findItem(Stored, keys.verification(organizationId, payload.data.id), consistent);
      return found?.to === redactedText;
    }
    case "message.received":
      return (
        (await findItem(Stored, keys.inbound(organizationId, payload.data.id), consistent)) === undefined
      );
    case "spend.cap_reached":
    case "balance.low":
    case "campaign.completed":
    case "message.held":
    case "ping":
      return false;
  }
}
