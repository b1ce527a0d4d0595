import { detailsOf, type MessageDetails } from "../../api/contract/message-details.ts";
import type { SendSmsRequest } from "../../api/contract/sms.ts";
import type { Prices } from "../../money/prices/prices.ts";
import { newId } from "../../platform/ids.ts";
import { idInShard, type Sharded } from "../../platform/table/shards.ts";
import type { MessageRecord } from "../message/record.ts";
import { validUntil } from "../message/validity.ts";
import { quote } from "./quote.ts";

export interface NewMessage
  extends
    MessageDetails,
    Pick<SendSmsRequest, "expiresInSeconds" | "language" | "message" | "messageType" | "to"> {
  readonly senderId: string;
  readonly from?: string | undefined;
  readonly scheduledAt?: string | undefined;
  readonly campaignId?: string;
  readonly apiKeyId?: string | undefined;
  readonly batchId?: string | undefined;
}

/** The time of acceptance, and the prices at that time. */
export interface Terms {
  readonly queuedAt: Date;
  readonly prices: Prices;
}

/**
 * Returns a new message as accepted, with its id and its price, which do not change later.
 * @param organization with its shards, as `placeOf` returns them
 * @throws ApiError DESTINATION_NOT_PRICED
 */
export function newMessage(
  organization: Sharded,
  request: NewMessage,
  { queuedAt, prices }: Terms,
): MessageRecord {
  return {
    entity: "message",
    id: idInShard(organization, newId("msg")),
    organizationId: organization.organizationId,
    status: "queued",
    to: request.to,
    message: request.message,
    senderId: request.senderId,
    from: request.from,
    language: request.language,
    messageType: request.messageType,
    campaignId: request.campaignId,
    apiKeyId: request.apiKeyId,
    ...detailsOf(request),
    batchId: request.batchId,
    ...quote(request, prices),
    queuedAt: queuedAt.toISOString(),
    scheduledAt: request.scheduledAt,
    validUntil: validUntil(request, queuedAt),
    attempts: 0,
    unresolvedAttempts: 0,
  };
}
