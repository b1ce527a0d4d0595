import * as z from "zod/mini";

import { ApiError, orNotFound } from "../../api/contract/errors.ts";
import type { Message } from "../../api/contract/sms.ts";
import type { WalletRecord } from "../../money/wallet/record.ts";
import { isVisible, type Viewer } from "../../platform/auth/actor.ts";
import { momentOf } from "../../platform/ids.ts";
import { firstItems } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { messageKey, messagesOf } from "../../platform/table/shards.ts";
import { hasExpired, MessageRecord, toApiMessage } from "./record.ts";
import { withoutUnpaid } from "./unpaid.ts";

/**
 * Reads one message of an organization in its present state.
 * @throws ApiError NOT_FOUND, also for a message of another organization, and with a test key for a live message
 */
export async function readMessage(viewer: Viewer, messageId: string): Promise<MessageRecord> {
  if (!isVisible(viewer, messageId)) throw new ApiError("NOT_FOUND");
  const key = messageKey({ organizationId: viewer.organizationId, id: messageId });
  const record = await findItem(MessageRecord, key, { consistent: true });
  if (record === undefined || hasExpired(record)) throw new ApiError("NOT_FOUND");
  return record;
}

/** Returns one message as its customer sees it. @throws ApiError NOT_FOUND */
export async function getMessage(viewer: Viewer, messageId: string): Promise<Message> {
  const [message] = await withoutUnpaid(viewer.organizationId, [await readMessage(viewer, messageId)]);
  return toApiMessage(orNotFound(message), viewer);
}

const Keyed = z.object({ sk: z.string() });

/** Returns when the newest remaining message of an organization was accepted; undefined if none remains. */
export async function newestMessageAt(wallet: WalletRecord): Promise<Date | undefined> {
  const [newest] = await firstItems(Keyed, { pk: messagesOf(wallet), newestFirst: true }, 1);
  return newest === undefined ? undefined : momentOf(newest.sk);
}
