import type { ReceivedMessage } from "../../shared/messages/inbound/receive.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { newId } from "../../shared/platform/ids.ts";

let replies = 0;
const firstAtMs = Date.parse("2026-03-01T10:00:00.000Z");

/** An inbound message of a carrier, sent a minute after the previous one. */
export function replyOf(
  fields: Partial<ReceivedMessage> & Pick<ReceivedMessage, "from" | "message" | "to">,
): ReceivedMessage {
  replies += 1;
  return {
    callbackId: newId("inb"),
    carrier: "kannel",
    carrierId: `carrier-${replies}`,
    receivedAt: new Date(firstAtMs + replies * minuteMs).toISOString(),
    ...fields,
  };
}
