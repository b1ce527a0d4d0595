import * as z from "zod/mini";

import { MessageStatus } from "../../api/contract/sms.ts";
import { eraseContact } from "../../audience/contacts/contacts.ts";
import { eraseExportsOf } from "../../figures/exports/erase.ts";
import { deleteConversationsWith, removeSent } from "../../messages/inbound/conversations.ts";
import { markErased } from "../../messages/inbound/erased.ts";
import { redactedText } from "../../messages/message/record.ts";
import { deleteIfUnpaid } from "../../messages/message/unpaid.ts";
import { deleteLifted, findOptOut } from "../../messages/opt-outs/record.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { forEachOf } from "../../platform/table/lists.ts";
import { messageKey, messagesOf, testMessagesOf, withAllShards } from "../../platform/table/shards.ts";
import { deleteItem, updateItem, updateOf } from "../../platform/table/write.ts";
import { eraseVerificationsOf } from "../../verifications/erase.ts";
import { callbacksOf } from "../../webhooks/callbacks.ts";
import { readWebhooks } from "../../webhooks/record.ts";

const StoredMessage = z.object({
  pk: z.string(),
  sk: z.string(),
  to: z.optional(z.string()),
  from: z.optional(z.string()),
  status: z.optional(z.string()),
});

const StoredDelivery = z.object({
  pk: z.string(),
  sk: z.string(),
  state: z.optional(z.string()),
  payload: z.optional(
    z.object({ data: z.object({ to: z.optional(z.string()), from: z.optional(z.string()) }) }),
  ),
});

const StoredInbound = z.object({ pk: z.string(), sk: z.string(), from: z.optional(z.string()) });

/** The outcome of an erasure: what one organization had of a number. */
export interface ErasedNumber {
  /** The deleted contacts. */
  readonly contacts: number;
  /** The opt-outs that stay, each with its number. */
  readonly optOutsKept: number;
  /** The messages without the number and their text. */
  readonly messages: number;
  /** The deleted inbound messages from the number. */
  readonly inbound: number;
  /** The deleted deliveries of webhooks and callbacks. */
  readonly deliveries: number;
  /** The deleted exports. */
  readonly exports: number;
  /** The messages, deliveries and exports that are still pending. The next erasure deletes them. */
  readonly left: number;
}

/**
 * Erases a number from an organization's data, except an opt-out. The ledger stays, because it has no numbers. An
 * erasure can be stopped and repeated at any point, and messages may be sent at the same time.
 *
 * Queued jobs may store data after the erasure has passed it. Each job that stores an inbound message, or a delivery of
 * an event about one, therefore checks afterwards whether the number was erased. For these checks, messages are erased
 * before deliveries, and the mark is set before the inbound messages are deleted. Exports are deleted last, because later ones
 * find nothing.
 * @throws ApiError UNAVAILABLE when others changed the contact in each attempt
 */
export async function eraseNumber(organizationId: string, phoneNumber: string): Promise<ErasedNumber> {
  let messages = 0;
  let inbound = 0;
  let deliveries = 0;
  let left = 0;
  await markErased(organizationId, phoneNumber);
  const contact = await eraseContact(organizationId, phoneNumber);
  const partitions = [...messagesOf(withAllShards(organizationId)), testMessagesOf(organizationId)];
  await forEachOf(StoredMessage, partitions, async ({ sk, to, from, status: stored }) => {
    if (to !== phoneNumber) return;
    await removeSent({ organizationId, id: sk, to, from });
    const status = MessageStatus.safeParse(stored).data ?? "queued";
    const isErased = await (status === "queued"
      ? deleteIfUnpaid(messageKey({ organizationId, id: sk }))
      : eraseMessage(organizationId, sk, { to, status }));
    if (isErased) messages += 1;
    else left += 1;
  });
  const inboundPartitions = [keys.inbound(organizationId, "").pk, keys.testInbound(organizationId)];
  await forEachOf(StoredInbound, inboundPartitions, async ({ pk, sk, from }) => {
    if (from !== phoneNumber) return;
    await deleteItem({ pk, sk });
    inbound += 1;
  });
  await deleteConversationsWith(organizationId, phoneNumber);
  await forEachOf(StoredMessage, keys.heldMessage(organizationId, "").pk, async ({ pk, sk, to }) => {
    if (to === phoneNumber) await deleteItem({ pk, sk });
  });
  await eraseVerificationsOf(organizationId, phoneNumber);
  const callbacks = [callbacksOf(organizationId, false), callbacksOf(organizationId, true)];
  for (const webhook of [...(await readWebhooks(organizationId)), ...callbacks]) {
    const { pk } = keys.webhookDelivery(webhook.id, "");
    await forEachOf(StoredDelivery, pk, async (delivery) => {
      const { to, from } = delivery.payload?.data ?? {};
      if (to !== phoneNumber && from !== phoneNumber) return;
      if (await eraseDelivery(delivery)) deliveries += 1;
      else left += 1;
    });
  }
  await deleteLifted(organizationId, phoneNumber);
  const { exports, running } = await eraseExportsOf(organizationId, phoneNumber);
  return {
    contacts: contact === "gone" ? 1 : 0,
    optOutsKept: (await findOptOut(organizationId, phoneNumber)) === undefined ? 0 : 1,
    messages,
    inbound,
    deliveries,
    exports,
    left: left + running,
  };
}

/** @returns whether it was erased; false if its status has changed in the meantime */
async function eraseMessage(
  organizationId: string,
  messageId: string,
  seen: { readonly to: string; readonly status: z.infer<typeof MessageStatus> },
): Promise<boolean> {
  const changes = {
    set: { to: redactedText, message: redactedText },
    remove: ["reference", "metadata", "callbackUrl"],
  } as const;
  const update = updateOf(messageKey({ organizationId, id: messageId }), changes, { is: seen });
  const { applied } = await updateItem(z.unknown(), update, {
    isOwn: (found) => StoredMessage.parse(found).to === redactedText,
  });
  return applied;
}

/** @returns whether it was erased; a pending delivery is not, because its customer waits for it */
async function eraseDelivery({ pk, sk, state }: z.infer<typeof StoredDelivery>): Promise<boolean> {
  if (state === "pending") return false;
  const key: Key<"webhookDelivery"> = { pk, sk };
  const erased = await deleteItem(key, { anyOf: [{ absent: ["pk"] }, { isNot: { state: "pending" } }] });
  return erased.applied;
}
