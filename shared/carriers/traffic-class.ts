import type { MessageType } from "../api/contract/sms.ts";

/**
 * The class of traffic that a message belongs to. It decides the queue, whether opt-outs apply, the route, and the
 * carrier's throughput and message type. A campaign is marketing whatever its type; a message without a type is
 * transactional.
 */
export function trafficClass({
  campaignId,
  messageType = "transactional",
}: {
  readonly campaignId?: string | undefined;
  readonly messageType?: MessageType | undefined;
}): MessageType {
  return campaignId === undefined ? messageType : "marketing";
}
